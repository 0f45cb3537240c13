//! A fitted column transformer: what each group gives, side by side.

use crate::learner::Fitted;
use learnt_core::estimator::Described;
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;

/// A fitted [`ColumnTransformer`](super::ColumnTransformer).
#[derive(Debug)]
pub struct ColumnTransformerModel {
    pub(super) width: usize,
    pub(super) outputs: Vec<Output>,
    pub(super) verbose: bool,
}

/// Some columns of the output: through a transformer, or as they are.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) name: String,
    pub(super) columns: Vec<usize>,
    pub(super) part: Option<Fitted>,
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
                Some(part) => part.with_rows(&chosen.frame(), run, |chosen| {
                    let made = part.transformer()?.transform_in(chosen, run);
                    made.map_err(|error| error.within(&part.name))
                })?,
            });
        }
        self.side_by_side(x.nrows(), &tables)
    }
}

impl ColumnTransformerModel {
    /// The fitted transformers.
    fn fitted(&self) -> impl Iterator<Item = &Fitted> {
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
    fn remarks(&self, schema: &Schema) -> Vec<String> {
        let of = |output: &Output| {
            let part = output.part.as_ref()?;
            Some(part.model.remarks(&schema.select(&output.columns)))
        };
        self.outputs.iter().filter_map(of).flatten().collect()
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
