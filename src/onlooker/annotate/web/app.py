"""The application, put together."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from onlooker.annotate.web.adjudication import Adjudication
from onlooker.annotate.web.doors import Doors
from onlooker.annotate.web.guard import Errors, Guard
from onlooker.annotate.web.oversight import Oversight
from onlooker.annotate.web.site import HERE, Site
from onlooker.annotate.web.tasks import Tasks


def create_app(site: Site) -> ASGIApp:
    """The application. It holds no state but the throttle of failed log-ins: several may serve one database."""
    app = FastAPI(title="onlooker annotate", docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    for routes in (Errors(site), Doors(site), Tasks(site), Oversight(site), Adjudication(site)):
        routes.install(app)
    return Guard(app, site)
