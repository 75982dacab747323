"""Many reports: on the processors of this machine, and on a cluster of machines."""
