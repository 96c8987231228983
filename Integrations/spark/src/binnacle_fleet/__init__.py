"""Binnacle's detectors over many recordings, as Arrow record batches: for Spark, Dask, Ray, or a plain pool of processes.

>>> from binnacle_fleet import find, pack, replay
>>> for task in pack(find("/recordings")):
...     for batch in replay(task, config="fleet.toml"):
...         ...
"""

from .events import Recording, pack, replay
from .schema import SCHEMA, partition_keys
from .program import ConfigurationFailed, ProgramFailed
from .storage import find

__all__ = ["SCHEMA", "ConfigurationFailed", "ProgramFailed", "Recording", "find", "pack", "partition_keys", "replay"]
