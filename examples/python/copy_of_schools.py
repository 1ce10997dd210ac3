"""A copy, in SQLite, of what schools share with an app."""
import json, sqlite3, time

import requests


class CursorExpired(Exception):
    """The place in the change feed is too old."""


class Copy:
    def __init__(self, issuer, client_id, client_secret, path):
        self.issuer, self.credentials, self.path, self.token = issuer, (client_id, client_secret), path, None
        self.http = requests.Session()  # Keeps its connections: a new school is a thousand reads.
        with self.connect() as database:
            database.execute("CREATE TABLE IF NOT EXISTS record (type, id, body, PRIMARY KEY (type, id))")
            database.execute("CREATE TABLE IF NOT EXISTS place (one PRIMARY KEY CHECK (one = 1), after)")

    def connect(self):
        return sqlite3.connect(self.path)

    def find(self, type, id):
        with self.connect() as database:
            return find(database, type, id)

    def follow(self):
        """Reads everything the first time, then what changed, and everything again after too long an absence."""
        with self.connect() as database:
            row = database.execute("SELECT after FROM place").fetchone()
        try:
            if row:
                return self.read_changes(row[0])
        except CursorExpired:
            pass
        self.read_everything()

    def read_everything(self):
        after = self.get("/changes")["next"]  # First, so that what changes meanwhile is behind it.
        records = {}

        def keep(record):
            records.setdefault((record["type"], record["id"]), record)

        for school in self.get("/schools"):
            keep(make_record("school", school))
            path = f"/schools/{school['id']}"
            for group in self.get(f"{path}/groups") or []:
                keep(make_record("group", group))
            for person in self.get(f"{path}/people", **{"show-deleted": "true"}) or []:
                keep(make_record("person", person))
            for user in self.get(f"{path}/users") or []:
                keep(make_record("person", user))
        with self.connect() as database:
            known = database.execute("SELECT id FROM record WHERE type = 'person'").fetchall()
            for (id,) in known:  # Users of schools that do not sync are in no list.
                if ("person", id) not in records and (record := self.read_record("person", id)):
                    keep(record)
            database.execute("DELETE FROM record")
            for record in records.values():
                put(database, record)
            database.execute("REPLACE INTO place VALUES (1, ?)", (after,))

    def read_changes(self, after):
        """Each record is read once, however often it changed; everything, if so much changed that this is faster."""
        changed, more = {}, True
        while more:
            page = self.get("/changes", after=after, limit=1000)
            for change in page["changes"]:
                is_gone = change["action"] == "delete" and "updatedProperties" not in change
                changed[(change["type"], change[change["type"] + "Id"])] = is_gone
            after, more = page["next"], page["more"]
        if len(changed) - sum(changed.values()) > 500:
            return self.read_everything()
        records = {key: None if is_gone else self.read_record(*key) for key, is_gone in changed.items()}
        with self.connect() as database:  # What is written and the place, together.
            for key, record in records.items():
                apply(database, key, record)
            database.execute("REPLACE INTO place VALUES (1, ?)", (after,))

    def read_record(self, type, id):
        """Somebody is a person, whom a school syncs, or a user, who may sign in, or both."""
        if type == "person":  # Who is soft-deleted may come back: their status says so.
            body = self.get(f"/people/{id}", **{"show-deleted": "true"}) or self.get(f"/users/{id}")
        else:
            body = self.get(f"/{type}s/{id}")
        return make_record(type, body) if body else None

    def get(self, path, **query):
        """The answer; None where there is none for this app."""
        for attempt in range(5):
            token = self.token = self.token or self.fetch_token()
            response = self.http.get(
                f"{self.issuer}/idm/ep/v1{path}", params=query, headers={"Authorization": f"Bearer {token}"}, timeout=300
            )
            if response.status_code == 401:  # It has ended.
                self.token = None
            elif response.status_code in (429, 503):
                time.sleep(min(int(response.headers.get("Retry-After", "1")), 60))
            else:
                break
        if response.status_code == 410:
            raise CursorExpired
        if response.status_code == 404 and response.json().get("code", "").endswith("_not_found"):
            return None
        response.raise_for_status()
        return response.json()

    def fetch_token(self):
        scope = " ".join(f"urn:schultor:idm:v1:{kind}:read" for kind in ("schools", "users", "groups", "people"))
        form = {"grant_type": "client_credentials", "scope": scope}
        response = self.http.post(f"{self.issuer}/oauth2/token", data=form, auth=self.credentials, timeout=30)
        response.raise_for_status()
        return response.json()["access_token"]


def apply(database, key, record):
    """Writes what the API shows, whatever the change said; what it does not show is gone for this app."""
    if record:
        put(database, record)
    else:
        database.execute("DELETE FROM record WHERE type = ? AND id = ?", key)


def make_record(type, body):
    record = {"type": type, "id": body["id"], "name": body["name"]}
    if type == "person":
        groups = [group["id"] for group in body["groups"]]
        record.update(role=body["role"], groups=groups, status=body.get("status", "ACTIVE"))
    return record


def find(database, type, id):
    row = database.execute("SELECT body FROM record WHERE type = ? AND id = ?", (type, id)).fetchone()
    return json.loads(row[0]) if row else None


def put(database, record):
    database.execute("REPLACE INTO record VALUES (?, ?, ?)", (record["type"], record["id"], json.dumps(record)))
