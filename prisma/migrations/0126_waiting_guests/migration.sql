-- Accounts that wait for staff are no people before they are accepted. Guests of earlier releases stay blocked people,
-- whom apps know already: their entries on the list cannot be accepted.
DELETE FROM "upstream_refusal" WHERE "code" = 'WAITS_FOR_STAFF';
