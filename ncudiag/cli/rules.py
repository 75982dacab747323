"""``ncudiag rules``: list the rules, show one, check one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ncudiag.cli import options as shared
from ncudiag.cli import terminal
from ncudiag.cli.formats import RuleFormat, RulesFormat
from ncudiag.cli.output import check_output, write_text
from ncudiag.cli.settings import choose
from ncudiag.errors import RuleFileError

if TYPE_CHECKING:
    from ncudiag.rulebook.check import Checked
    from ncudiag.rulebook.collection import Collection

Format: TypeAlias = Annotated[
    RulesFormat, typer.Option("--format", help="Text for people, or a JSON document.", show_default=True)
]
Select: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--select", "--family", metavar="WORD,...", help="Only these: ids, names or families (MEM003, latency)."
    ),
]


def commands() -> typer.Typer:
    """The three commands of ``ncudiag rules``."""
    app = typer.Typer(name="rules", rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_rules)
    app.command("list")(list_rules)
    app.command("show")(show)
    app.command("check")(check)
    return app


def _rules(context: typer.Context) -> None:
    """List the rules that name causes, show one in full, check rules of your own.

    \b
    Examples:
      ncudiag rules list --family memory
      ncudiag rules show MEM003
      ncudiag rules check my_rules
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    if context.invoked_subcommand is None:
        write_text(f"{context.get_help()}\n")


def list_rules(
    *,
    select: Select = None,
    ignore: shared.Ignore = None,
    rules: shared.Rules = None,
    output_format: Format = RulesFormat.TEXT,
    output: shared.Output = None,
    no_config: shared.NoConfig = False,
) -> None:
    """List the rules with family, severity and verdicts; your own too, with --rules or a settings file.

    \b
    Examples:
      ncudiag rules list --family memory
      ncudiag rules list --rules my_rules --format json
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    book = _collection(rules, no_config=no_config)
    chosen = book.only(
        select=shared.split_words(select, option="--select"), ignore=shared.split_words(ignore, option="--ignore")
    )
    if output_format is RulesFormat.JSON:
        from ncudiag.report.json_output import dumps
        from ncudiag.report.rule_json import rules_document

        write_text(dumps(rules_document(chosen, book.problems)), output=output)
        return
    from ncudiag.report.rule_text import render_rules

    place = _place(output)
    text = render_rules(chosen, book.problems, width=place.width, colour=place.colour, unicode=place.unicode)
    write_text(text, output=output)


def show(
    *,
    rule: Annotated[str, typer.Argument(metavar="ID", help="Id or name of a rule, as in MEM003.")],
    rules: shared.Rules = None,
    output_format: Annotated[
        RuleFormat,
        typer.Option("--format", help="Text for people, a JSON document, or the rule's own file.", show_default=True),
    ] = RuleFormat.TEXT,
    output: shared.Output = None,
    no_config: shared.NoConfig = False,
) -> None:
    """Show a rule in full: what it measures, when it fires, why, what to try, what will not help.

    \b
    Examples:
      ncudiag rules show MEM003
      ncudiag rules show MEM003 --format toml --output my_rules/MEM103.toml
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    book = _collection(rules, no_config=no_config)
    found = book.rule(rule)
    match output_format:
        case RuleFormat.TOML:
            text = book.text(found)
        case RuleFormat.JSON:
            from ncudiag.report.json_output import dumps
            from ncudiag.report.rule_json import rule_document

            text = dumps(rule_document(found, book.threshold_sources(found)))
        case RuleFormat.TEXT:
            from ncudiag.report.rule_text import render_rule

            place = _place(output)
            text = render_rule(
                found,
                sources=book.threshold_sources(found),
                width=place.width,
                colour=place.colour,
                unicode=place.unicode,
            )
    write_text(text, output=output)


def check(
    *,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder with rule files (ID.toml).")],
    output_format: Format = RulesFormat.TEXT,
) -> None:
    """Check rules of your own: their keys, their names, and whether they say what their examples expect.

    Exit status: 0 all are fine, 2 something is wrong with one. Notes are no failure.

    \b
    Example:
      ncudiag rules check my_rules
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    from ncudiag.rulebook.check import check_rules

    checked = check_rules(Path(folder))
    if output_format is RulesFormat.TEXT:
        from ncudiag.report.rule_text import render_checked

        place = terminal.of_stream(sys.stdout)
        write_text(render_checked(checked, width=place.width, colour=place.colour, unicode=place.unicode))
    if checked.problems:
        raise _failed(folder, checked)
    if output_format is RulesFormat.JSON:
        from ncudiag.report.json_output import dumps
        from ncudiag.report.rule_json import checked_document

        write_text(dumps(checked_document(checked)))


def _failed(folder: str, checked: Checked) -> RuleFileError:
    from ncudiag.report.quantities import count
    from ncudiag.report.rule_json import checked_document

    first = checked.problems[0]
    more = len(checked.problems) - 1
    message = f"{first.file}: {first.message}" + (f" (and {count(more, 'more problem')})" if more else "")
    parts = checked_document(checked)
    return RuleFileError(
        "rule-file",
        message,
        "`ncudiag rules show MEM001 --format toml` is an example with every key; docs/writing-a-rule.md explains them.",
        details={"folder": folder} | {key: parts[key] for key in ("files", "examples", "problems", "notes")},
    )


def _collection(rules: list[str] | None, *, no_config: bool) -> Collection:
    from ncudiag.rulebook.collection import collect

    chosen = choose(no_config=no_config, rules=tuple(rules or ()))
    return collect([Path(folder) for folder in chosen.get("rules", ())])


def _place(output: str | None) -> terminal.Terminal:
    return terminal.FILE if output is not None else terminal.of_stream(sys.stdout)
