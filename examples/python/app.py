"""Signs people in, keeps a copy of what schools share with this app, and receives webhooks."""
import base64, hmac, os, secrets, threading, time, traceback, uuid
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth, OAuthError
from authlib.jose import JsonWebKey, JsonWebToken
from authlib.jose.errors import JoseError
from flask import Flask, redirect, render_template_string, request, session
from werkzeug.exceptions import HTTPException

from copy_of_schools import Copy

ISSUER = os.environ.get("ISSUER", "http://localhost:3000")
CLIENT_ID = os.environ.get("CLIENT_ID", "demo-lernapp")
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
WEBHOOK_SECRETS = os.environ.get("WEBHOOK_SECRETS", "").split()
PORT = int(os.environ.get("PORT", "4000"))
APP_URL = os.environ.get("APP_URL", f"http://127.0.0.1:{PORT}")

app = Flask(__name__)
app.secret_key = os.environ.get("SECRET_KEY") or os.urandom(32)
app.config.update(SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_SECURE=APP_URL.startswith("https:"))
PAGE = """<!doctype html><html lang="en"><title>Example</title><main>
{% if name %}<p>Hello {{ name }}! Groups: {{ groups | join(", ") or "none" }}</p>
<form method="post" action="/logout"><button>Sign out</button></form>
{% else %}<p>{{ problem }}</p><a href="/login">Sign in</a>{% endif %}</main></html>"""


# ── The copy: a thread follows the change feed, every minute and whenever a webhook says that something changed ──

copy = Copy(ISSUER, CLIENT_ID, CLIENT_SECRET, os.environ.get("DATABASE", "copy.db"))
changed = threading.Event()


def follow_for_ever():
    while True:
        changed.clear()
        try:
            copy.follow()
        except Exception:  # The next time brings what this one missed.
            traceback.print_exc()
        changed.wait(60)


def is_genuine(body, headers):
    """Compares the signature over the raw bytes (Standard Webhooks), and refuses one of more than five minutes ago."""
    message, signed_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not signed_at.isdecimal() or abs(time.time() - int(signed_at)) > 300:
        return False
    given = [one.encode() for one in headers.get("webhook-signature", "").split(" ")]
    for secret in WEBHOOK_SECRETS:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        digest = hmac.digest(key, f"{message}.{signed_at}.".encode() + body, "sha256")
        if any(hmac.compare_digest(b"v1," + base64.b64encode(digest), one) for one in given):
            return True
    return False


@app.post("/hook")
def receive_webhook():
    if not is_genuine(request.get_data(), request.headers):
        return "", 401
    changed.set()  # The feed says what changed, in order, and each once.
    return "", 204


# ── Sign-on ──

oauth = OAuth(app)
schultor = oauth.register(
    "schultor",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile", "code_challenge_method": "S256"},
)
signed_in = {}  # In production: in your database.


@app.get("/login")
def login():
    """The Login URL: a tile opens it with iss and login_hint. The library adds state and PKCE."""
    if request.args.get("iss", ISSUER) != ISSUER:
        return render_template_string(PAGE, problem="This app does not know that issuer."), 400
    hint = {"login_hint": request.args["login_hint"]} if "login_hint" in request.args else {}
    # The nonce of the library is shorter than 128 bits.
    return schultor.authorize_redirect(f"{APP_URL}/callback", nonce=secrets.token_urlsafe(32), **hint)


@app.get("/callback")
def callback():
    if request.args.get("iss") != ISSUER:
        raise OAuthError("invalid_issuer", "The answer comes from another issuer.")
    # Without `aud` the library takes an ID token of another app.
    claims_options = {"iss": {"essential": True, "value": ISSUER}, "aud": {"essential": True, "value": CLIENT_ID}}
    token = schultor.authorize_access_token(claims_options=claims_options)
    claims = token["userinfo"]
    session.clear()
    session["id"] = str(uuid.uuid4())
    signed_in[session["id"]] = {
        "sub": claims["sub"], "sid": claims["sid"], "name": claims.get("given_name"), "id_token": token["id_token"],
    }
    return redirect("/")


@app.post("/logout")
def logout():
    person = signed_in.pop(session.pop("id", None), None)
    hint = {"id_token_hint": person["id_token"], "post_logout_redirect_uri": f"{APP_URL}/"} if person else {}
    address = schultor.load_server_metadata()["end_session_endpoint"]
    return redirect(f"{address}?{urlencode(hint)}")


@app.post("/backchannel-logout")
def end_sessions():
    """The service says that a session has ended elsewhere."""
    keys = JsonWebKey.import_key_set(schultor.fetch_jwk_set(force=True))
    options = {name: {"essential": True} for name in ("iat", "exp", "jti", "events")}
    options.update(iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": CLIENT_ID})
    token = JsonWebToken(["RS256", "ES256", "EdDSA"]).decode(request.form["logout_token"], keys, claims_options=options)
    token.validate(leeway=60)
    is_logout = "http://schemas.openid.net/event/backchannel-logout" in token["events"]
    if token.header.get("typ") != "logout+jwt" or not is_logout or "nonce" in token:
        return "", 400
    which = "sid" if "sid" in token else "sub"
    for key, person in list(signed_in.items()):
        if person[which] == token[which]:
            signed_in.pop(key, None)
    return "", 200, {"Cache-Control": "no-store"}


@app.get("/")
def home():
    person = signed_in.get(session.get("id"))
    if person is None:
        return render_template_string(PAGE)
    record = copy.find("person", person["sub"])
    groups = [copy.find("group", group) for group in (record["groups"] if record else [])]
    names = [group["name"] for group in groups if group]
    page = render_template_string(PAGE, name=person["name"] or "somebody without a name", groups=names)
    return page, 200, {"Cache-Control": "no-store"}


@app.errorhandler(Exception)
def refuse(error):
    """What is refused: an answer with another state, an ID token with a wrong signature, and so on."""
    if isinstance(error, HTTPException):
        return error
    app.logger.error("%s: %s", request.path, error)
    status = 400 if isinstance(error, (OAuthError, JoseError, ValueError)) else 500
    return render_template_string(PAGE, problem="That did not work."), status


if __name__ == "__main__":
    threading.Thread(target=follow_for_ever, daemon=True).start()
    app.run("127.0.0.1", PORT)
