import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)

# configuration
app.secret_key = os.environ["SESSION_SECRET"]
oauth = OAuth(app)
oauth.register(
    "schultor",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile offline_access", "code_challenge_method": "S256"},
)
# end of configuration


@app.get("/login")
def login():
    return oauth.schultor.authorize_redirect(os.environ["BASE_URL"] + "/callback")


@app.get("/callback")
def callback():
    token = oauth.schultor.authorize_access_token()
    session["user"] = {"sub": token["userinfo"]["sub"], "accessToken": token["access_token"]}
    session["token"] = {key: token[key] for key in ("access_token", "refresh_token", "token_type", "expires_at")}
    return redirect("/")


@app.get("/me")
def me():
    return session["user"] if "user" in session else ("", 401)


@app.get("/userinfo")
def userinfo():
    return dict(oauth.schultor.userinfo(token=session["token"]))


@app.get("/refresh")
def refresh():
    refresh_token = session["token"]["refresh_token"]
    token = oauth.schultor.fetch_access_token(grant_type="refresh_token", refresh_token=refresh_token)
    return {"accessToken": token["access_token"]}


app.run("localhost", int(os.environ["PORT"]))
