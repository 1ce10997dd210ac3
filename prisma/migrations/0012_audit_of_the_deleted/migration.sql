-- Audit lines lose the id of who is deleted for good; here for those who were deleted before.
UPDATE "audit" SET "person_id" = NULL FROM "tombstone" WHERE "tombstone"."person_id" = "audit"."person_id";
