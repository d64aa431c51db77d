"""The page of the documentation on the command line, written from the command line itself.

``python -m tempocal.cli.reference > docs/cli.md``
"""

from typing import Any

import click

from tempocal.cli.group import EXIT_CODES, VERBS, tempocal

_START = """# Command line

```shell
pip install "tempocal[cli]"
tempocal --help
```

This page is written by `python -m tempocal.cli.reference > docs/cli.md`, from the same words as
`--help`; a test compares them.

{about}

Text where a number or a date is needed, missing values, empty files, columns that are not there,
probabilities that were named logits, one class only, a label that changes within a sequence: each
is refused in one sentence that says which flag to try. Progress is shown after two seconds, on a
terminal. A file that is written appears when all of it is on the disk, or not at all.

| exit code | meaning |
|---|---|
{codes}
"""


def reference() -> str:
    """Return the page."""
    context = click.Context(tempocal, info_name="tempocal")
    codes = "\n".join(f"| {line[0]} | {line[1:].strip()} |" for line in EXIT_CODES)
    about = _paragraphs(tempocal.help or "")[1]
    parts = [_START.format(about=about, codes=codes)]
    for name in VERBS:
        command = tempocal.get_command(context, name)
        assert command is not None
        parts.append(_section(name, command))
    return "\n".join(parts)


def _section(name: str, command: click.Command) -> str:
    about = "\n\n".join(_paragraphs(command.help or ""))
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    usage = " ".join([f"tempocal {name}", *(str(one.metavar) for one in arguments), "[OPTIONS]"])
    options = [one for one in command.params if isinstance(one, click.Option)]
    rows = "\n".join(f"| {_spelled(one)} | {_meaning(one)} |" for one in options)
    examples = "\n".join(line.strip() for line in (command.epilog or "").splitlines()[2:])
    return (
        f"## {name}\n\n`{usage}`\n\n{about}\n\n```shell\n{examples}\n```\n\n"
        f"| option | what it says |\n|---|---|\n{rows}\n"
    )


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _spelled(option: click.Option) -> str:
    value = "" if option.is_flag else f" {_value(option)}".replace("|", "\\|")
    return ", ".join(f"`{name}`" for name in option.opts + option.secondary_opts) + value


def _value(option: click.Option) -> str:
    if option.metavar is None and isinstance(option.type, click.Choice):
        return f"[{'|'.join(option.type.choices)}]"
    return str(option.metavar)


def _meaning(option: Any) -> str:
    return f"{option.help}{' Required.' if option.required else ''}"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
