"""The module that translation starts with, under the name that targets import it by."""


def log_config(config, header=None):
    """Would print the options."""
