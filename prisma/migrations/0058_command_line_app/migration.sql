-- The command line, as which staff sign in with a browser (`schultor login`). Its loopback port is free.
INSERT INTO "app" ("client_id", "name", "type", "pkce_required", "redirect_uris", "post_logout_redirect_uris", "scopes",
                   "created_at", "updated_at")
VALUES ('schultor-cli', 'Schultor command line', 'PUBLIC', true, ARRAY['http://127.0.0.1/callback'], ARRAY[]::text[],
        ARRAY['offline_access', 'admin:read', 'admin:write'], now(), now());
