"""Commands that show a model: the page in a browser, the API alone, one page to send to a colleague."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from coembed.cli.console import say, to_stderr
from coembed.cli.options import ModelPath, Quiet
from coembed.errors import InputError
from coembed.untrusted import reading

if TYPE_CHECKING:
    from coembed.explorer import Explorer
    from coembed.fitted import Fitted
    from coembed.network import Network

PORT = 8642

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free one.")]
Host = Annotated[
    str, typer.Option("--host", help="Address to listen on; one that others reach needs a token.")
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="COEMBED_TOKEN",
        help="What requests must show; made up, if others can reach the host.",
        show_default=False,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="A file whose first line is the token: others who use this machine see the command line.",
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", help="Layout: `tsne`, `pca`, `umap`, or `auto`: t-SNE if installed and small."),
]
Truth = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="NETWORK",
        help="A network with labels that were hidden from the model, to judge it by.",
        show_default=False,
    ),
]


def explore(
    model: ModelPath,
    truth: Truth = None,
    method: Method = "auto",
    host: Host = "127.0.0.1",
    port: Port = PORT,
    token: Token = None,
    token_file: TokenFile = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    quiet: Quiet = False,
) -> None:
    """Look at a model in the browser: its map, a card for everything on it, its training and quality.

    **Examples**

    `coembed explore demo/model`

    `coembed explore model --truth wordnet.npz --no-browser`
    """
    given = _token(token, token_file)
    _check_extra()
    explorer = _explorer(model, truth, method, quiet)
    _serve(explorer, host, port, given, browser=browser, elsewhere=True)


def serve(
    model: ModelPath,
    truth: Truth = None,
    method: Method = "auto",
    host: Host = "127.0.0.1",
    port: Port = PORT,
    token: Token = None,
    token_file: TokenFile = None,
    quiet: Quiet = False,
) -> None:
    """Answer questions about a model over HTTP, without opening a browser.

    **Examples**

    `coembed serve demo/model --port 9000`

    `coembed serve model --host 0.0.0.0 --token "$SECRET"`
    """
    given = _token(token, token_file)
    _check_extra()
    explorer = _explorer(model, truth, method, quiet)
    _serve(explorer, host, port, given, browser=False, elsewhere=False)


def report(
    model: ModelPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .html file to write.")
    ] = Path("report.html"),
    truth: Truth = None,
    method: Method = "auto",
    cards: Annotated[
        int, typer.Option("--cards", min=0, help="Nodes, and attributes, that get a card, at most.")
    ] = 3000,
    quiet: Quiet = False,
) -> None:
    """The page of a model as one file, to be opened without a server and sent to a colleague.

    **Examples**

    `coembed report demo/model -o report.html`

    `coembed report model --truth wordnet.npz --cards 500`
    """
    from coembed.explorer.single_page import check_report, write_report

    check_report(output)
    explorer = _explorer(model, truth, method, quiet)
    with WorkProgress("writing cards", quiet) as progress:
        write_report(explorer, output, cards, progress)
    say(f"wrote {output}: {output.stat().st_size / 1e6:.1f} MB; open it in a browser")


def _token(token: str | None, file: Path | None) -> str | None:
    """The token itself, or the first line of a file."""
    if file is None:
        return token
    if token is not None:
        raise InputError("give --token or --token-file, not both")
    with reading(file, "a text"):
        lines = file.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].strip():
        raise InputError(f"{file} is empty; put the token on its first line")
    return lines[0].strip()


def _serve(
    explorer: Explorer, host: str, port: int, token: str | None, *, browser: bool, elsewhere: bool
) -> None:
    from coembed.explorer import serve as run

    def tell(address: str) -> None:
        say(f"{explorer.network.name} is at {address} (Ctrl-C ends it)", "green")

    run(explorer, host=host, port=port, token=token, browser=browser, elsewhere=elsewhere, tell=tell)


def _explorer(model: Path, truth: Path | None, method: str, quiet: bool) -> Explorer:
    """The model with its layout, made now if it was never made."""
    from coembed.explorer import Explorer
    from coembed.fitted import load
    from coembed.maps.layout import cached_layout
    from coembed.network import read

    fitted = load(model)
    judged_by = read(truth) if truth is not None else bundled_truth(fitted)
    with WorkProgress("laying out the map", quiet) as progress:
        layout = cached_layout(fitted, model, method, progress=progress)
    return Explorer(fitted, layout, judged_by)


def _check_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"the explorer needs {error.name}; install coembed[explore]") from None


def bundled_truth(fitted: Fitted) -> Network | None:
    """The bundled network, where the model was fitted to it with hidden labels: the demo can be judged."""
    from coembed.network import demo_network

    network, bundled = fitted.network, demo_network()
    same = network.name == bundled.name and list(network.node_names) == list(bundled.node_names)
    hidden = same and len(network.labelled) < len(bundled.labelled) and network.n_classes
    return bundled if hidden else None


class WorkProgress:
    """A bar while something is computed; where nobody looks, one line."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        console = to_stderr()
        self.live = console.is_terminal and not quiet
        self.what, self.quiet, self.told = what, quiet, False
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=28),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not self.live,
        )
        self.task = self.bar.add_task(what, total=None)

    def __enter__(self) -> WorkProgress:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.bar.stop()

    def __call__(self, done: int, steps: int) -> None:
        self.bar.update(self.task, completed=done, total=steps)
        if not (self.live or self.quiet or self.told):
            say(f"{self.what} ...", "dim")
            self.told = True
