"""The cases about queues."""
