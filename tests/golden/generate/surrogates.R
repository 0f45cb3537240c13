# Numbers of R's rpart for `tests/golden/surrogates.json`: surrogate splits where wrong labels have losses, on rows
# with holes. Run in `tests/golden`: Rscript generate/surrogates.R > surrogates.json
# Needs the package rpart (4.1.19).
library(rpart)
options(digits = 15)
table <- read.csv("data/kyphosis.csv", stringsAsFactors = TRUE)
table$start[seq(3, 81, by = 6)] <- NA
table$age[seq(5, 81, by = 9)] <- NA
number <- function(x) paste0("[", paste(trimws(formatC(x, digits = 15, format = "g")), collapse = ","), "]")
text <- function(x) paste0("[", paste0("\"", x, "\"", collapse = ","), "]")
one <- function(loss, weights) {
  fit <- rpart(kyphosis ~ age + number + start, data = table, method = "class", weights = weights,
    parms = list(loss = matrix(c(0, loss, 1, 0), 2)),
    control = rpart.control(minsplit = 12, minbucket = 4, cp = -1, xval = 0, maxdepth = 2))
  frame <- fit$frame
  inner <- frame$var != "<leaf>"
  first <- cumsum(c(1, (1 + frame$ncompete + frame$nsurrogate)[inner]))
  splits <- fit$splits
  rows <- list()
  for (k in seq_len(sum(inner))) {
    node <- rownames(frame)[inner][k]
    begin <- first[k] + 1 + frame$ncompete[inner][k]
    count <- frame$nsurrogate[inner][k]
    for (j in seq_len(count)) rows[[length(rows) + 1]] <- begin + j - 1
  }
  rows <- unlist(rows)
  paste0("{\"loss\":", loss, ",\"weights\":", number(weights), ",\"n\":", number(frame$n),
    ",\"var\":", text(frame$var), ",\"cut\":", number(splits[first[-length(first)], "index"]),
    ",\"surrogate\":", text(rownames(splits)[rows]), ",\"surrogate_cut\":", number(splits[rows, "index"]),
    ",\"agree\":", number(splits[rows, "improve"]), ",\"adj\":", number(splits[rows, "adj"]),
    ",\"present\":", number(predict(fit, table, type = "prob")[, 2]), "}")
}
ones <- rep(1, 81)
some <- 1 + (seq_len(81) %% 3)
cat("{\"cases\": [\n", paste(one(4, ones), one(1, ones), one(0.25, ones), one(4, some), sep = ",\n"), "\n]}\n", sep = "")
