//! Linear models by stochastic gradient descent, one row or a few rows at a time, and perceptrons.

mod classes;
mod effort;
mod line;
mod loss;
mod options;
mod perceptron;
mod pocket;
mod sgd_classifier;
mod sgd_regressor;
mod softmax;

pub use loss::{ClassLoss, RealLoss};
pub use options::{Average, DescentPenalty, LearningRate, Passes, Steps};
pub use perceptron::{Perceptron, PerceptronMode, PerceptronModel, PerceptronRate, ZeroIs};
pub use sgd_classifier::{SGDClassifier, SGDClassifierModel};
pub use sgd_regressor::{SGDRegressor, SGDRegressorModel};
