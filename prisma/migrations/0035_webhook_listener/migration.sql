-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "listens_until" TIMESTAMPTZ(3);

-- Written by hand: a listening endpoint has no address; all others have one.
ALTER TABLE "webhook_endpoint"
  DROP CONSTRAINT "webhook_endpoint_url_check",
  ADD CONSTRAINT "webhook_endpoint_url_check"
    CHECK (CASE WHEN "listens_until" IS NULL THEN "url" ~ '^https?://' AND char_length("url") <= 2000
      ELSE "url" = 'about:listener' END);
