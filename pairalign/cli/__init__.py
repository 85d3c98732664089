"""The command line: `main` and the options, commands and messages it is made of."""
