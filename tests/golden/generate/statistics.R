# Numbers of R for `tests/golden/statistics.json`: formulas, analyses of variance and deviance, intervals and
# robust standard errors. Run in `tests/golden`: Rscript generate/statistics.R > statistics.json
# Needs the packages MASS, car, sandwich and nnet.
suppressMessages({library(MASS); library(car); library(sandwich); library(nnet)})
options(digits = 15)
close <- glm.control(epsilon = 1e-14, maxit = 100)

text <- function(x) {
  if (is.null(names(x)) || length(x) == 0) return(paste0("[", paste(formatC(x, digits = 15, format = "g"), collapse = ","), "]"))
  paste0("{", paste0("\"", names(x), "\":", formatC(unlist(x), digits = 15, format = "g"), collapse = ","), "}")
}
out <- list()
put <- function(name, x) out[[length(out) + 1]] <<- paste0("\"", name, "\": ", text(x))
column <- function(table, name) { x <- table[[name]]; names(x) <- trimws(rownames(table)); x[!is.na(x)] }

cars <- read.csv("data/mtcars.csv")
breaks <- read.csv("data/warpbreaks.csv", stringsAsFactors = TRUE)
births <- read.csv("data/birthwt.csv")
air <- read.csv("data/airquality.csv")
iris <- read.csv("data/iris.csv", stringsAsFactors = TRUE)

# Least squares with every kind of term.
fit <- lm(log(mpg) ~ poly(hp, 2) + I(wt/2) + log(disp + 1) + factor(cyl), cars)
put("terms_coefficients", coef(fit))
put("terms_errors", sqrt(diag(vcov(fit))))
put("terms_predicted", exp(predict(fit, cars[1:4, ])))
interval <- predict(fit, cars[1:4, ], interval = "prediction", level = 0.9)
put("terms_lower", exp(interval[, 2]))

# Unbalanced factors with an interaction: three types.
part <- breaks[-c(1, 2, 3, 20, 21, 40), ]
fit <- lm(breaks ~ wool * tension, part)
put("type_1", column(anova(fit), "Sum Sq"))
put("type_1_p", column(anova(fit), "Pr(>F)"))
put("type_2", column(Anova(fit, type = 2), "Sum Sq"))
put("type_3", column(Anova(fit, type = 3), "Sum Sq"))
sums <- lm(breaks ~ C(wool, sum) * C(tension, sum), part)
put("type_3_sum", column(Anova(sums, type = 3), "Sum Sq"))
put("vif", {v <- vif(lm(mpg ~ wt + hp + factor(cyl), cars)); x <- v[, "GVIF"]; names(x) <- rownames(v); x})
compared <- anova(lm(mpg ~ wt, cars), lm(mpg ~ wt + hp, cars), lm(mpg ~ wt * hp + qsec, cars))
put("compared_f", compared$F[-1])
put("compared_p", compared$`Pr(>F)`[-1])

# Holes.
fit <- lm(Ozone ~ Solar.R + Wind + Temp, air)
put("air_coefficients", coef(fit))
put("air_dropped", length(fit$na.action))
put("air_hc3", sqrt(diag(vcovHC(fit, "HC3"))))

# Logistic regression.
births$race <- factor(births$race)
fit <- glm(low ~ age + lwt + race + smoke, binomial, births, control = close)
put("logit_coefficients", coef(fit))
put("logit_ratios", exp(coef(fit)))
put("logit_wald_lower", exp(confint.default(fit)[, 1]))
profile <- suppressMessages(confint(fit))
put("logit_profile_lower", profile[, 1])
put("logit_profile_upper", profile[, 2])
put("logit_deviance_1", column(anova(fit, test = "Chisq"), "Deviance"))
put("logit_deviance_2", column(Anova(fit, type = 2), "LR Chisq"))
put("logit_hc0", sqrt(diag(vcovHC(fit, "HC0"))))
put("logit_hc3", sqrt(diag(vcovHC(fit, "HC3"))))
put("logit_cluster", sqrt(diag(vcovCL(fit, births$ftv, type = "HC1"))))
for (kind in c("response", "pearson", "deviance", "working"))
  put(paste0("logit_", kind), unname(residuals(fit, kind)[1:6]))
put("logit_leverage", unname(hatvalues(fit)[1:6]))
put("logit_cook", unname(cooks.distance(fit)[1:6]))
put("logit_standardised", unname(rstandard(fit)[1:6]))
ends <- predict(fit, births[1:3, ], se.fit = TRUE)
put("logit_interval_lower", unname(plogis(ends$fit - qnorm(0.975) * ends$se.fit)))
put("logit_vif", {v <- vif(fit); x <- v[, "GVIF"]; names(x) <- rownames(v); x})
put("logit_wald_race", {k <- 4:5; as.numeric(t(coef(fit)[k]) %*% solve(vcov(fit)[k, k]) %*% coef(fit)[k])})

# Rates with an offset.
breaks$days <- 10 + seq_along(breaks$breaks)
fit <- glm(breaks ~ wool + tension + offset(log(days)), poisson, breaks, control = close)
put("rate_coefficients", coef(fit))
put("rate_errors", sqrt(diag(vcov(fit))))
put("rate_deviance", fit$deviance)
put("rate_predicted", unname(predict(fit, breaks[1:3, ], type = "response")))
put("rate_deviance_1", column(anova(fit, test = "Chisq"), "Deviance"))
put("rate_profile_lower", suppressMessages(confint(fit))[, 1])

# An estimated dispersion.
fit <- glm(breaks ~ wool * tension, Gamma("log"), breaks, control = close)
put("gamma_f", column(anova(fit, test = "F"), "F"))
put("gamma_profile_upper", suppressMessages(confint(fit))[, 2])

# Least squares with an offset.
fit <- lm(mpg ~ wt + offset(0.1 * qsec), cars)
put("offset_coefficients", coef(fit))

# Logistic regression with an offset.
births$known <- births$age / 40 - 0.5
fit <- glm(low ~ lwt + race + smoke + offset(known), binomial, births, control = close)
put("logit_offset_coefficients", coef(fit))
put("logit_offset_errors", sqrt(diag(vcov(fit))))
put("logit_offset_deviance", fit$deviance)
put("logit_offset_null", fit$null.deviance)
put("logit_offset_predicted", unname(predict(fit, births[1:4, ], type = "response")))
put("logit_offset_deviance_1", column(anova(fit, test = "Chisq"), "Deviance"))
put("logit_offset_profile_lower", suppressMessages(confint(fit))[, 1])
fit <- glm(low ~ lwt + smoke + offset(known) - 1, binomial, births, control = close)
put("logit_offset_origin_null", fit$null.deviance)

# Intervals of new observations: the family's distribution over the normal distribution of the linear predictor.
quantiles <- function(below, eta, se, start, share) mapply(function(eta, se, start) {
  chance <- function(y) integrate(function(z) below(y, eta + se * z) * dnorm(z), -9, 9, rel.tol = 1e-12, subdivisions = 1000)$value
  uniroot(function(y) chance(y) - share, start * c(0.01, 30), tol = 1e-12)$root
}, eta, se, start)
counts <- function(eta, se, share) mapply(function(eta, se) {
  chance <- function(y) integrate(function(z) ppois(y, exp(eta + se * z)) * dnorm(z), -9, 9, rel.tol = 1e-12, subdivisions = 1000)$value
  y <- 0; while (chance(y) < share) y <- y + 1; y
}, eta, se)
fit <- glm(breaks ~ wool * tension, poisson, breaks, control = close)
at <- predict(fit, breaks[c(1, 10, 50), ], se.fit = TRUE)
put("new_counts_lower", counts(at$fit, at$se.fit, 0.025))
put("new_counts_upper", counts(at$fit, at$se.fit, 0.975))
fit <- glm(breaks ~ wool * tension, Gamma("log"), breaks, control = close)
at <- predict(fit, breaks[c(1, 10, 50), ], se.fit = TRUE); phi <- summary(fit)$dispersion
gamma <- function(y, eta) pgamma(y, shape = 1 / phi, scale = exp(eta) * phi)
put("new_gamma_lower", quantiles(gamma, at$fit, at$se.fit, exp(at$fit), 0.05))
put("new_gamma_upper", quantiles(gamma, at$fit, at$se.fit, exp(at$fit), 0.95))
fit <- glm(breaks ~ wool + tension, Gamma, breaks, control = close)
at <- predict(fit, breaks[c(1, 10, 50), ], se.fit = TRUE); phi <- summary(fit)$dispersion
gamma <- function(y, eta) ifelse(eta > 0, pgamma(y, shape = 1 / phi, scale = phi / pmax(eta, 1e-300)), 0)
put("new_inverse_upper", quantiles(gamma, at$fit, at$se.fit, 1 / at$fit, 0.975))
fit <- glm(breaks ~ wool + tension, inverse.gaussian("log"), breaks, control = close)
at <- predict(fit, breaks[c(1, 10, 50), ], se.fit = TRUE); phi <- summary(fit)$dispersion
wald <- function(y, eta) { m <- exp(eta); r <- sqrt(1 / (phi * y)); pnorm(r * (y / m - 1)) + exp(2 / (phi * m) + pnorm(-r * (y / m + 1), log.p = TRUE)) }
put("new_wald_upper", quantiles(wald, at$fit, at$se.fit, exp(at$fit), 0.975))
fit <- lm(breaks ~ wool * tension, breaks)
put("new_normal_upper", unname(predict(fit, breaks[c(1, 10, 50), ], interval = "prediction")[, 3]))

# Weights: rows count once in degrees of freedom, whatever they weigh, and rows of weight zero do not count.
cars$times <- cars$carb - 1
heavy <- cars[cars$times > 0, ]
fit <- lm(mpg ~ wt + factor(cyl), heavy, weights = times)
put("weighted_errors", sqrt(diag(vcov(fit))))
put("weighted_hc1", sqrt(diag(vcovHC(fit, "HC1"))))
put("weighted_hc3", sqrt(diag(vcovHC(fit, "HC3"))))
put("weighted_cook", unname(cooks.distance(fit)))
put("weighted_fit", c(df = fit$df.residual, aic = AIC(fit), bic = BIC(fit)))
fit <- glm(mpg ~ wt + factor(cyl), gaussian, heavy, weights = times, control = close)
put("weighted_normal_errors", sqrt(diag(vcov(fit))))
put("weighted_normal_fit", c(df = fit$df.residual, aic = AIC(fit), bic = BIC(fit), dispersion = summary(fit)$dispersion))
fit <- glm(mpg ~ wt + factor(cyl), Gamma("log"), heavy, weights = times, control = close)
put("weighted_gamma_errors", sqrt(diag(vcov(fit))))
put("weighted_gamma_f", column(anova(fit, test = "F"), "F"))
put("weighted_gamma_fit", c(df = fit$df.residual, aic = AIC(fit), bic = BIC(fit), dispersion = summary(fit)$dispersion))
fit <- glm(low ~ age + lwt, binomial, births, weights = 1 + ftv, control = close)
put("weighted_logit_fit", c(df = fit$df.residual, aic = AIC(fit), bic = BIC(fit)))

# An offset of a changed target is in fitted values and intervals of both scales.
fit <- lm(log(mpg) ~ wt + offset(hp / 200), cars)
interval <- predict(fit, cars[1:4, ], interval = "confidence")
put("offset_fitted", unname(fitted(fit)[1:4]))
put("offset_link_lower", unname(interval[, 2]))
put("offset_lower", unname(exp(interval[, 2])))

# Terms inside terms.
put("nested_coefficients", coef(lm(breaks ~ wool / tension, breaks)))
put("inside_coefficients", coef(lm(breaks ~ wool + tension %in% wool, breaks)))

# Many classes.
fit <- multinom(race ~ age + lwt, births, trace = FALSE, maxit = 1000, reltol = 1e-14)
put("classes_deviance_2", column(Anova(fit, type = 2), "LR Chisq"))

# Discriminants.
fit <- manova(cbind(sepal_length, sepal_width, petal_length, petal_width) ~ species, iris)
wilks <- summary(fit, test = "Wilks")$stats
put("wilks", c(lambda = wilks[1, 2], f = wilks[1, 3], p = wilks[1, 6]))
x <- as.matrix(iris[, 1:4]); g <- factor(iris$species); n <- nrow(x); k <- nlevels(g)
within <- Reduce(`+`, lapply(split(as.data.frame(x), g), function(d) (nrow(d) - 1) * cov(d)))
m <- (n - k) * log(det(within / (n - k))) - sum(sapply(split(as.data.frame(x), g), function(d) (nrow(d) - 1) * log(det(cov(d)))))
put("box_m", m)

cat("{\n", paste(unlist(out), collapse = ",\n"), "\n}\n", sep = "")
