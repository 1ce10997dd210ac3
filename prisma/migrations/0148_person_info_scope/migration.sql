-- looser: one more scope; every row was written under the stricter rule
-- An app that reads the claims of Schulconnex.
ALTER TABLE "app" DROP CONSTRAINT "app_scopes_check", ADD CONSTRAINT "app_scopes_check" CHECK ("scopes" <@ ARRAY[
    'openid', 'offline_access', 'profile', 'school', 'role', 'groups', 'pseudonym', 'school_name',
    'school_official_id', 'school_location', 'school_address', 'schooling_level', 'person-info',
    'schools:read', 'users:read', 'groups:read', 'people:read', 'oneroster:read', 'admin:read', 'admin:write']) NOT VALID;
