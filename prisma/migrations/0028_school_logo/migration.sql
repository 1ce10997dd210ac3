-- CreateTable
CREATE TABLE "school_logo" (
    "school_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "school_logo_pkey" PRIMARY KEY ("school_id")
);

-- AddForeignKey
ALTER TABLE "school_logo" ADD CONSTRAINT "school_logo_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what a logo may be.
ALTER TABLE "school_logo"
  ADD CONSTRAINT "school_logo_type_check" CHECK ("type" IN ('image/png', 'image/jpeg')),
  ADD CONSTRAINT "school_logo_hash_check" CHECK ("hash" ~ '^[0-9a-f]{32}$'),
  ADD CONSTRAINT "school_logo_bytes_check" CHECK (octet_length("bytes") <= 262144);
