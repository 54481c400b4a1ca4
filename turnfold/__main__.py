"""The command line's entry point: the `turnfold` script and `python -m turnfold`."""


def main() -> None:
    """Run the command line. Leaves by SystemExit: 0 ok, 1 found something wrong, 2 usage."""
    from turnfold.actors.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
