//! Column transformer: each group of columns through its own transformer, side by side.
//!
//! Groups are lists of column names, or `:numeric`, `:categorical`, `:all`. Columns in no group are
//! dropped or passed through (`remainder`). Outputs stand in the order of the groups, then the rest.
//! If every transformer is rounds of a mergeable summary, so is this: all run in the same rounds.

use crate::learner::{Fitted, Learner, offered};
use learnt_core::estimator::{Accepts, Described};
use learnt_core::params::{Kind, ParamType, check_names};
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::rounds::{Erased, InMemory, Job};
use std::collections::BTreeMap;

/// Applies different transformers to different columns and puts the results side by side.
///
/// ```
/// use learnt::{compose::ColumnTransformer, prepare::{MinMaxScaler, StandardScaler}, prelude::*};
/// let learner = ColumnTransformer::default()
///     .with("z", StandardScaler::default(), &["x0"])
///     .with("unit", MinMaxScaler::default(), &["x1"]);
/// let data = OwnedDataset::unsupervised(Matrix::from_rows(&[[1.0, 10.0], [3.0, 30.0]])?);
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().row(1), [1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ColumnTransformer {
    /// The groups: name, transformer (or `passthrough` or `drop`), columns.
    #[param(positional, required, learner = transformer)]
    pub transformers: Vec<Group>,
    /// What happens to columns in no group.
    #[param(default = Remainder::Drop)]
    pub remainder: Remainder,
    /// Put the name of the group in front of its column names.
    #[param(default = true)]
    pub verbose_feature_names_out: bool,
}

/// What happens to columns in no group.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Remainder {
    /// They are left out.
    Drop,
    /// They follow the groups unchanged.
    Passthrough,
}

/// What is done with a group of columns.
#[derive(Clone, Debug)]
pub enum Action {
    /// A transformer is fitted on them.
    Fit(Learner),
    /// They stay as they are.
    Pass,
    /// They are left out.
    Drop,
}

/// One group: name, action, columns.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name.
    pub name: String,
    /// What is done.
    pub action: Action,
    /// Column names, or `:numeric`, `:categorical`, `:all`.
    pub columns: Vec<String>,
}

impl ParamType for Group {
    fn kind() -> Kind {
        Kind::Any("a triple of a name, a transformer and columns")
    }
    fn to_value(&self) -> Value {
        let action = match &self.action {
            Action::Fit(learner) => learner.to_value(),
            Action::Pass => Value::Text("passthrough".to_string()),
            Action::Drop => Value::Text("drop".to_string()),
        };
        Value::List(vec![Value::Text(self.name.clone()), action, self.columns.to_value()])
    }
    fn from_value(value: &Value) -> Option<Group> {
        let (name, action, columns) = triple(value)?;
        let action = match action {
            Value::Text(word) if word == "passthrough" => Action::Pass,
            Value::Text(word) if word == "drop" => Action::Drop,
            learner => Action::Fit(Learner::from_value_as(learner, Some("transformer"))?),
        };
        Some(Group { name: name.to_string(), action, columns: Vec::from_value(columns)? })
    }
    fn explain(value: &Value) -> Option<Error> {
        triple(value).and_then(|(_, action, _)| Learner::explain(action))
    }
    fn learners<'a>(&'a self, _field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        match &self.action {
            Action::Fit(learner) => learner.learners(&self.name),
            _ => Vec::new(),
        }
    }
    fn learner_mut(&mut self, _field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        match &mut self.action {
            Action::Fit(learner) => learner.learner_mut(&self.name, name),
            _ => None,
        }
    }
}

fn triple(value: &Value) -> Option<(&str, &Value, &Value)> {
    match value {
        Value::List(items) => match items.as_slice() {
            [Value::Text(name), action, columns] => Some((name, action, columns)),
            _ => None,
        },
        _ => None,
    }
}

/// A fitted [`ColumnTransformer`].
#[derive(Debug)]
pub struct ColumnTransformerModel {
    width: usize,
    outputs: Vec<Output>,
    verbose: bool,
}

/// Some columns of the output: through a transformer, or as they are.
#[derive(Debug)]
struct Output {
    name: String,
    columns: Vec<usize>,
    part: Option<Fitted>,
}

/// A group whose columns are known by position; `learner` with the number of the group.
struct Placed<'a> {
    name: &'a str,
    learner: Option<(usize, &'a dyn AnyEstimator)>,
    columns: Vec<usize>,
}

impl ColumnTransformer {
    /// The column transformer with one more group.
    #[must_use]
    pub fn with(mut self, name: &str, learner: impl Into<Learner>, columns: &[&str]) -> Self {
        self.transformers.push(Group {
            name: name.to_string(),
            action: Action::Fit(learner.into()),
            columns: columns.iter().map(ToString::to_string).collect(),
        });
        self
    }

    /// Names are used once, also those of groups that only pass or drop.
    fn constraints(&self) -> Result<()> {
        let names = self.transformers.iter().map(|group| ("transformers", group.name.as_str()));
        check_names(self.specs(), names)
    }

    /// The groups by position, the remainder last.
    fn place<'a>(&'a self, schema: &Schema) -> Result<Vec<Placed<'a>>> {
        let index: BTreeMap<&str, usize> = schema.names().zip(0..).collect();
        let mut used = vec![false; schema.len()];
        let mut placed = Vec::new();
        for (number, group) in self.transformers.iter().enumerate() {
            let columns = positions(group, schema, &index)?;
            columns.iter().for_each(|&j| used[j] = true);
            match &group.action {
                Action::Drop => {}
                Action::Pass => placed.push(Placed { name: &group.name, learner: None, columns }),
                Action::Fit(learner) if !columns.is_empty() => {
                    placed.push(Placed {
                        name: &group.name,
                        learner: Some((number, &**learner)),
                        columns,
                    });
                }
                Action::Fit(_) => {}
            }
        }
        if self.remainder == Remainder::Passthrough {
            let columns: Vec<usize> = (0..schema.len()).filter(|&j| !used[j]).collect();
            placed.push(Placed { name: "remainder", learner: None, columns });
        }
        Ok(placed)
    }

    fn train_in_turn(&self, data: &Dataset, run: &Context) -> Result<ColumnTransformerModel> {
        let fit = |placed: Placed| {
            let part: Option<Result<Fitted>> = placed.learner.map(|(_, learner)| {
                let table = data.x.select(&placed.columns);
                let data = Dataset { x: table.frame(), ..*data };
                Fitted::fit(learner, placed.name, &data, run)
            });
            Ok(Output {
                name: placed.name.to_string(),
                columns: placed.columns,
                part: part.transpose()?,
            })
        };
        let outputs = self.place(data.x.schema())?.into_iter().map(fit).collect::<Result<_>>()?;
        Ok(ColumnTransformerModel {
            width: data.x.ncols(),
            outputs,
            verbose: self.verbose_feature_names_out,
        })
    }

    fn rounds_job(&self) -> Option<ColumnsJob> {
        let mut jobs = Vec::new();
        for group in &self.transformers {
            jobs.push(match &group.action {
                Action::Fit(learner) => Some(learner.any_job()?),
                _ => None,
            });
        }
        Some(ColumnsJob { learner: self.clone(), jobs })
    }
}

/// Positions of a group's columns, selectors resolved.
fn positions(group: &Group, schema: &Schema, index: &BTreeMap<&str, usize>) -> Result<Vec<usize>> {
    let of_kind = |numeric: bool| {
        let columns = schema.columns().iter().enumerate();
        columns.filter(move |(_, c)| (c.kind == ColumnKind::Numeric) == numeric).map(|(j, _)| j)
    };
    let mut out = Vec::new();
    for name in &group.columns {
        match name.as_str() {
            ":numeric" => out.extend(of_kind(true)),
            ":categorical" => out.extend(of_kind(false)),
            ":all" => out.extend(0..schema.len()),
            name => match index.get(name) {
                Some(&j) => out.push(j),
                None => {
                    return Err(Error::unknown("column", name, schema.names()).within(&group.name));
                }
            },
        }
    }
    Ok(out)
}

impl Estimator for ColumnTransformer {
    type Model = ColumnTransformerModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("compose.ColumnTransformer")
        .missing()
        .categories()
        .weights()
        .randomness()
        .threads()
        .streaming()
        .complexity(10)
        .cost("the sum of its transformers");

    fn train(&self, data: &Dataset, run: &Context) -> Result<ColumnTransformerModel> {
        match self.rounds_job() {
            Some(job) => rounds::drive(&job, &InMemory::new(*data), run)?.take(),
            None => self.train_in_turn(data, run),
        }
    }

    /// Each transformer checks its own columns.
    fn accepts(&self) -> Accepts {
        Self::ABOUT.accepts
    }

    fn job(&self) -> Option<Box<dyn Job>> {
        self.rounds_job().map(|job| Box::new(job) as Box<dyn Job>)
    }
}

/// All transformers in the same rounds; one job a group, none for groups that only pass or drop.
struct ColumnsJob {
    learner: ColumnTransformer,
    jobs: Vec<Option<Box<dyn Job>>>,
}

struct ColumnsState {
    schema: Schema,
    first_round: bool,
    groups: Vec<GroupState>,
}

enum GroupState {
    Fitting(usize, Erased),
    Done(Option<Fitted>),
}

/// The summary of each group that is still being fitted, with the number of the group.
type Summaries = Vec<Option<(usize, Erased)>>;
type Memos = Vec<Memo>;

fn erased(summaries: Summaries) -> Erased {
    Erased::stored_by(summaries, |summaries| {
        let node = |summary: &Option<(usize, Erased)>| match summary {
            None => Ok(Node::Null),
            Some((group, summary)) => fitting(*group, summary),
        };
        summaries.iter().map(node).collect::<Result<_>>().map(Node::List)
    })
}

/// A state or summary with the number of its group.
fn fitting(group: usize, inner: &Erased) -> Result<Node> {
    Ok(Node::Map(BTreeMap::from([
        ("group".to_string(), group.to_node()),
        ("inner".to_string(), inner.to_node()?),
    ])))
}

impl ColumnsState {
    fn erased(self) -> Erased {
        Erased::stored_by(self, |state| {
            let node = |group: &GroupState| match group {
                GroupState::Fitting(group, inner) => fitting(*group, inner),
                GroupState::Done(part) => Ok(part.to_node()),
            };
            let groups = state.groups.iter().map(node).collect::<Result<_>>()?;
            Ok(Node::Map(BTreeMap::from([
                ("schema".to_string(), state.schema.to_node()),
                ("first_round".to_string(), state.first_round.to_node()),
                ("groups".to_string(), Node::List(groups)),
            ])))
        })
    }
}

impl ColumnsJob {
    /// A group from its stored form: `read` for what is being fitted, else what is done.
    fn read_group(
        &self,
        node: &Node,
        read: fn(&dyn Job, &Node) -> Result<Erased>,
    ) -> Result<GroupState> {
        if node.child("group").is_err() {
            return Option::from_node(node).map(GroupState::Done);
        }
        node.only("group", &["group", "inner"])?;
        let number = node.field("group")?;
        Ok(GroupState::Fitting(number, read(self.job(number)?, node.child("inner")?)?))
    }

    fn job(&self, number: usize) -> Result<&dyn Job> {
        let job = self.jobs.get(number).and_then(Option::as_deref);
        job.ok_or_else(|| Error::internal("a group that cannot stream"))
    }
}

impl Job for ColumnsJob {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        let mut groups = Vec::new();
        for placed in self.learner.place(outline.schema)? {
            let Some((number, _)) = placed.learner else {
                groups.push(GroupState::Done(None));
                continue;
            };
            let schema = outline.schema.select(&placed.columns);
            let inner = self
                .job(number)?
                .begin(&Outline { schema: &schema, ..*outline }, run)
                .map_err(|error| error.within(placed.name))?;
            groups.push(GroupState::Fitting(number, inner));
        }
        let schema = outline.schema.clone();
        Ok(ColumnsState { schema, first_round: true, groups }.erased())
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        let state: &ColumnsState = state.get()?;
        let placed = self.learner.place(&state.schema)?;
        let memos: &mut Memos = memo.of();
        memos.resize_with(placed.len(), Memo::default);
        let mut summaries = Summaries::new();
        for ((placed, group), memo) in placed.iter().zip(&state.groups).zip(memos) {
            let (GroupState::Fitting(number, inner), Some((_, learner))) = (group, placed.learner)
            else {
                summaries.push(None);
                continue;
            };
            let table = block.data.x.select(&placed.columns);
            let data = offered(&block.data, table.frame(), learner.any_accepts());
            if state.first_round {
                data.check(learner.any_accepts(), false, &run.with_threads(1))
                    .map_err(|error| error.within(placed.name))?;
            }
            let summary = self
                .job(*number)?
                .summarize(inner, &Block { data, ..*block }, memo, run)
                .map_err(|error| error.within(placed.name))?;
            summaries.push(Some((*number, summary)));
        }
        Ok(erased(summaries))
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        let (earlier, later): (Summaries, Summaries) = (earlier.take()?, later.take()?);
        let merged = earlier.into_iter().zip(later).map(|pair| match pair {
            (Some((number, a)), Some((_, b))) => Ok(Some((number, self.job(number)?.merge(a, b)?))),
            _ => Ok(None),
        });
        Ok(erased(merged.collect::<Result<Summaries>>()?))
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        let state: ColumnsState = state.take()?;
        let all: Summaries = all.take()?;
        let placed = self.learner.place(&state.schema)?;
        let mut groups = Vec::new();
        for ((group, summary), placed) in state.groups.into_iter().zip(all).zip(&placed) {
            groups.push(match (group, summary, placed.learner) {
                (GroupState::Fitting(number, inner), Some((_, summary)), Some((_, learner))) => {
                    let job = self.job(number)?;
                    match job
                        .advance(inner, summary, run)
                        .map_err(|error| error.within(placed.name))?
                    {
                        Step::Again(inner) => GroupState::Fitting(number, inner),
                        Step::Done(done) => {
                            let (name, model) = (placed.name.to_string(), job.model(done)?);
                            GroupState::Done(Some(Fitted { name, about: learner.about(), model }))
                        }
                    }
                }
                (group, _, _) => group,
            });
        }
        if groups.iter().any(|group| matches!(group, GroupState::Fitting(..))) {
            let state = ColumnsState { schema: state.schema, first_round: false, groups };
            return Ok(Step::Again(state.erased()));
        }
        let outputs = groups.into_iter().zip(placed).map(|(group, placed)| {
            let GroupState::Done(part) = group else {
                return Err(Error::internal("an unfinished group"));
            };
            Ok(Output { name: placed.name.to_string(), columns: placed.columns, part })
        });
        Ok(Step::Done(Erased::result(ColumnTransformerModel {
            width: state.schema.len(),
            outputs: outputs.collect::<Result<_>>()?,
            verbose: self.learner.verbose_feature_names_out,
        })))
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        Ok(Box::new(done.take::<ColumnTransformerModel>()?))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        node.only("columns", &["schema", "first_round", "groups"])?;
        let schema: Schema = node.field("schema")?;
        let groups = node.child("groups")?.list()?.iter();
        let groups: Vec<GroupState> = groups
            .map(|group| self.read_group(group, |job, node| job.read_state(node)))
            .collect::<Result<_>>()?;
        let placed = self.learner.place(&schema)?;
        let fits = |(placed, group): (&Placed, &GroupState)| match (placed.learner, group) {
            (Some((wanted, _)), GroupState::Fitting(number, _)) => wanted == *number,
            (Some((_, learner)), GroupState::Done(Some(part))) => {
                part.about.path == learner.about().path && part.name == placed.name
            }
            (learner, GroupState::Done(None)) => learner.is_none(),
            _ => false,
        };
        if placed.len() != groups.len() || !placed.iter().zip(&groups).all(fits) {
            return Err(invalid("groups of another column transformer"));
        }
        Ok(ColumnsState { schema, first_round: node.field("first_round")?, groups }.erased())
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        let read = |node: &Node| match self.read_group(node, |job, node| job.read_summary(node))? {
            GroupState::Fitting(number, summary) => Ok(Some((number, summary))),
            GroupState::Done(None) => Ok(None),
            GroupState::Done(Some(_)) => Err(invalid("a model where a summary belongs")),
        };
        node.list()?.iter().map(read).collect::<Result<_>>().map(erased)
    }
}

impl Transformer for ColumnTransformerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        if x.ncols() != self.width {
            let expected = format!("{} columns as in training", self.width);
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let mut tables = Vec::new();
        for output in &self.outputs {
            let chosen = x.select(&output.columns);
            tables.push(match &output.part {
                None => chosen,
                Some(part) => {
                    part.check_rows(&chosen.frame(), run)?;
                    part.transformer()?
                        .transform_in(&chosen.frame(), run)
                        .map_err(|error| error.within(&part.name))?
                }
            });
        }
        self.side_by_side(x.nrows(), &tables)
    }
}

impl ColumnTransformerModel {
    /// The fitted transformers.
    pub(super) fn fitted(&self) -> impl Iterator<Item = &Fitted> {
        self.outputs.iter().filter_map(|output| output.part.as_ref())
    }

    fn side_by_side(&self, rows: usize, tables: &[Table]) -> Result<Table> {
        let mut columns = Vec::new();
        for (output, table) in self.outputs.iter().zip(tables) {
            columns.extend(table.schema().columns().iter().map(|column| match self.verbose {
                true => Column {
                    name: format!("{}__{}", output.name, column.name),
                    kind: column.kind.clone(),
                },
                false => column.clone(),
            }));
        }
        let mut values = Matrix::zeros(rows, columns.len());
        let mut start = 0;
        for table in tables {
            let width = table.values().ncols();
            for i in 0..rows {
                values.row_mut(i)[start..start + width].copy_from_slice(table.values().row(i));
            }
            start += width;
        }
        Table::new(values, Schema::new(columns)?)
    }
}

impl Model for ColumnTransformerModel {
    fn as_transformer(&self) -> Option<&dyn Transformer> {
        Some(self)
    }
    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let with_columns = self.outputs.iter().filter_map(|output| {
            let part = output.part.as_ref()?;
            Some(part.part(schema.select(&output.columns), classes))
        });
        Ok(with_columns.collect())
    }
    fn attributes(&self) -> Vec<(&'static str, Node)> {
        Vec::new()
    }
    fn stored(&self) -> Node {
        self.to_node()
    }
    fn version(&self) -> u32 {
        Self::VERSION
    }
    fn converged(&self) -> bool {
        self.fitted().all(|part| part.model.converged())
    }
}

impl Described for ColumnTransformerModel {
    const FIELDS: &'static [(&'static str, &'static str)] = &[];
    const VERSION: u32 = 1;
}

impl Stored for ColumnTransformerModel {
    fn to_node(&self) -> Node {
        let output = |output: &Output| {
            let fields = [
                ("name", output.name.to_node()),
                ("columns", output.columns.to_node()),
                ("part", output.part.to_node()),
            ];
            Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
        };
        let fields = [
            ("width", self.width.to_node()),
            ("verbose", self.verbose.to_node()),
            ("outputs", Node::List(self.outputs.iter().map(output).collect())),
        ];
        Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("columns", &["width", "verbose", "outputs"])?;
        let width: usize = node.field("width")?;
        let Some(Node::List(items)) = node.map("columns")?.get("outputs") else {
            return Err(invalid("a column transformer without outputs"));
        };
        let output = |node: &Node| {
            node.only("group", &["name", "columns", "part"])?;
            let columns: Vec<usize> = node.field("columns")?;
            let part: Option<Fitted> = node.field("part")?;
            if columns.iter().any(|&j| j >= width) {
                return Err(invalid("a group with a column that is not there"));
            }
            if let Some(part) = &part {
                part.transformer()?;
            }
            Ok(Output { name: node.field("name")?, columns, part })
        };
        let outputs = items.iter().map(output).collect::<Result<_>>()?;
        Ok(ColumnTransformerModel { width, outputs, verbose: node.field("verbose")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{OneHotEncoder, SimpleImputer, StandardScaler};

    fn mixed() -> OwnedDataset {
        let schema = Schema::new(vec![
            Column::numeric("size"),
            Column::categorical("colour", vec!["red".into(), "blue".into()]),
            Column::numeric("age"),
        ]);
        let values = Matrix::from_rows(&[[1.0, 0.0, 7.0], [3.0, 1.0, f64::NAN], [5.0, 0.0, 9.0]]);
        let x = Table::new(values.unwrap(), schema.unwrap()).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    fn learner() -> ColumnTransformer {
        ColumnTransformer::default().with("impute", SimpleImputer::default(), &[":numeric"]).with(
            "code",
            OneHotEncoder::default(),
            &["colour"],
        )
    }

    #[test]
    fn groups_stand_side_by_side_under_their_names() {
        let model = learner().fit(&mixed().view()).unwrap();
        let table = model.transform(&mixed().x.frame()).unwrap();
        let names: Vec<&str> = table.schema().names().collect();
        assert_eq!(names, ["impute__size", "impute__age", "code__colour_blue", "code__colour_red"]);
        assert_eq!(table.values().row(1), [3.0, 8.0, 1.0, 0.0]);
    }

    #[test]
    fn rounds_and_turns_agree_to_the_bit_in_one_block() {
        let by_rounds = learner().fit(&mixed().view()).unwrap();
        let in_turn = learner().train_in_turn(&mixed().view(), &Context::default()).unwrap();
        assert_eq!(by_rounds.to_node(), in_turn.to_node());
        let back = ColumnTransformerModel::from_node(&by_rounds.to_node()).unwrap();
        assert_eq!(back.to_node(), by_rounds.to_node());
    }

    #[test]
    fn columns_in_no_group_are_dropped_or_passed_on() {
        let mut learner =
            ColumnTransformer::default().with("z", StandardScaler::default(), &["size"]);
        let width = |learner: &ColumnTransformer| {
            learner
                .fit(&mixed().view())
                .unwrap()
                .transform(&mixed().x.frame())
                .unwrap()
                .values()
                .ncols()
        };
        assert_eq!(width(&learner), 1);
        learner.remainder = Remainder::Passthrough;
        assert_eq!(width(&learner), 3);
    }

    #[test]
    fn an_unknown_column_is_named_with_its_neighbour() {
        let error = ColumnTransformer::default()
            .with("z", StandardScaler::default(), &["sise"])
            .fit(&mixed().view())
            .unwrap_err();
        assert!(error.to_string().contains("did you mean 'size'?"), "{error}");
    }
}
