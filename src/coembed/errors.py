"""The one exception for what a user handed over and can put right."""


class InputError(ValueError):
    """Bad input: its message is one sentence that names the place and the remedy.

    The command line prints it and exits with code 2.
    """
