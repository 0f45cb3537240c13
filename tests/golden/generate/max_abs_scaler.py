"""The numbers of MaxAbsScaler on iris, as the test in prepare/max_abs_scaler.rs holds them."""

from sklearn.datasets import load_iris
from sklearn.preprocessing import MaxAbsScaler

x = load_iris().data
scaler = MaxAbsScaler().fit(x)
print(scaler.max_abs_.tolist())
print(scaler.transform(x)[0].tolist())
