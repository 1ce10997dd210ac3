ALTER TABLE "announced_sign_in" RENAME COLUMN "sight" TO "snapshot";
