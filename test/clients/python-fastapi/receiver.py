"""What an app adds to the generated server: the signature, and what is done with an event.

Prints its address, reads the secret of each path from standard input, then prints each event that it takes.
"""

import hashlib
import hmac
import json
import socket
import sys

import uvicorn
from openapi_server.apis.events_api_base import BaseEventsApi


def tell(event, id):
    print(json.dumps({"model": type(event).__name__, "action": event.action, "id": id}), flush=True)


class Events(BaseEventsApi):
    def receive_person_event(self, event_type, signature, id, timestamp, standard_signature, event, is_test, traceparent):
        tell(event, event.person_id)

    def receive_group_event(self, event_type, signature, id, timestamp, standard_signature, event, is_test, traceparent):
        tell(event, event.group_id)

    def receive_school_event(self, event_type, signature, id, timestamp, standard_signature, event, is_test, traceparent):
        tell(event, event.school_id)


def verified(app, secrets):
    """Verifies the signature over the bytes as they came, before anything parses them."""

    async def verify(scope, receive, send):
        if scope["type"] != "http":
            return await app(scope, receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        given = dict(scope["headers"]).get(b"x-ep-signature-sha256", b"")
        expected = hmac.new(secrets[scope["path"]].encode(), body, hashlib.sha256).hexdigest().encode()
        if not hmac.compare_digest(given, expected):
            await send({"type": "http.response.start", "status": 401})
            return await send({"type": "http.response.body"})

        async def again():
            return {"type": "http.request", "body": body}

        await app(scope, again, send)

    return verify


if __name__ == "__main__":
    from openapi_server.main import app

    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    secrets = json.loads(sys.stdin.readline())
    server = uvicorn.Server(uvicorn.Config(verified(app, secrets), log_level="error"))
    server.run(sockets=[listener])
