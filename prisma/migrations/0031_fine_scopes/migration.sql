-- Written by hand: the scopes that bring one claim each. Old processes ask for none of them.
ALTER TABLE "app" DROP CONSTRAINT "app_scopes_check", ADD CONSTRAINT "app_scopes_check" CHECK ("scopes" <@ ARRAY[
    'openid', 'offline_access', 'profile', 'school', 'role', 'groups', 'pseudonym', 'school_name',
    'school_official_id', 'school_location', 'school_address', 'schooling_level',
    'schools:read', 'users:read', 'groups:read', 'people:read', 'admin:read', 'admin:write']);
