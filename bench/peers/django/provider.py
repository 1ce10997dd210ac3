"""django-oauth-toolkit as its tutorial sets it up, with OpenID Connect, on PostgreSQL.

Without arguments it makes the tables, the clients and the people and prints a session of each; gunicorn serves
`application`. The clients are trusted, so nobody is asked for consent.
"""

import json
import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import include, path

env = os.environ

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": env["PGDATABASE"],
            "USER": env["PGUSER"],
            "PASSWORD": env["PGPASSWORD"],
            "HOST": env["PGHOST"],
            "PORT": env["PGPORT"],
            "CONN_MAX_AGE": None,
        }
    },
    DEBUG=False,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": env["PRIVATE_KEY"],
        "PKCE_REQUIRED": True,
        "SCOPES": {scope: scope for scope in ["openid", "profile", env["SCOPE"]]},
    },
    ROOT_URLCONF=__name__,
    SECRET_KEY="a secret of fifty characters or more for the sessions of people",
    USE_TZ=True,
)

application = get_wsgi_application()
urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]


def prepare():
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for client_id, grant in [(env["CLIENT_ID"], "authorization-code"), (env["MACHINE_ID"], "client-credentials")]:
        Application.objects.create(
            client_id=client_id,
            client_secret=env["CLIENT_SECRET"],
            client_type="confidential",
            authorization_grant_type=grant,
            redirect_uris=env["REDIRECT_URI"],
            skip_authorization=True,
            algorithm="RS256",
        )
    for number in range(int(env["PEOPLE"])):
        browser = Client()
        browser.force_login(User.objects.create_user(f"person{number}", password="bench-password"))
        yield "; ".join(f"{cookie.key}={cookie.value}" for cookie in browser.cookies.values())


if __name__ == "__main__":
    json.dump(list(prepare()), sys.stdout)
