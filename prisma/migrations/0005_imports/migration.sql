-- AlterTable
ALTER TABLE "group" ADD COLUMN     "source_system_identifier" TEXT;

-- CreateTable
CREATE TABLE "import" (
    "id" UUID NOT NULL,
    "format" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "school_year" TEXT NOT NULL DEFAULT '',
    "error_count" INTEGER NOT NULL DEFAULT 0,
    "notes" JSONB NOT NULL DEFAULT '{}',
    "actor_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "import_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_school" (
    "import_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "counts" JSONB NOT NULL,
    "confirmed_people" INTEGER,
    "confirmed_groups" INTEGER,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "import_school_pkey" PRIMARY KEY ("import_id","school_id")
);

-- CreateTable
CREATE TABLE "import_error" (
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "file" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "column" INTEGER,
    "field" TEXT,
    "code" TEXT NOT NULL,
    "message" TEXT NOT NULL,

    CONSTRAINT "import_error_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateTable
CREATE TABLE "staged_person" (
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "column" INTEGER NOT NULL,
    "source_id" TEXT NOT NULL,
    "school_id" UUID,
    "home_school_id" UUID,
    "role" TEXT,
    "first_full" TEXT,
    "first_call" TEXT,
    "last" TEXT,
    "sort_key" TEXT NOT NULL,
    "is_deleted" BOOLEAN NOT NULL,

    CONSTRAINT "staged_person_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateTable
CREATE TABLE "staged_role" (
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "column" INTEGER NOT NULL,
    "person_source_id" TEXT NOT NULL,
    "school_id" UUID,
    "role" TEXT NOT NULL,
    "is_primary" BOOLEAN NOT NULL,
    "is_deleted" BOOLEAN NOT NULL,

    CONSTRAINT "staged_role_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateTable
CREATE TABLE "staged_group" (
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "column" INTEGER NOT NULL,
    "source_id" TEXT NOT NULL,
    "school_id" UUID,
    "name" TEXT,
    "sort_key" TEXT NOT NULL,
    "type" TEXT,
    "previous_source_id" TEXT,
    "is_deleted" BOOLEAN NOT NULL,

    CONSTRAINT "staged_group_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateTable
CREATE TABLE "staged_membership" (
    "import_id" UUID NOT NULL,
    "row" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "person_column" INTEGER NOT NULL,
    "group_column" INTEGER NOT NULL,
    "school_id" UUID,
    "person_source_id" TEXT NOT NULL,
    "group_source_id" TEXT NOT NULL,
    "role" TEXT,
    "is_deleted" BOOLEAN NOT NULL,

    CONSTRAINT "staged_membership_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateTable
CREATE TABLE "group_carry_over" (
    "school_id" UUID NOT NULL,
    "school_year" TEXT NOT NULL,
    "previous_source_id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "group_carry_over_pkey" PRIMARY KEY ("school_id","school_year","previous_source_id","source_id")
);

-- CreateIndex
CREATE INDEX "import_created_at_idx" ON "import"("created_at");

-- CreateIndex
CREATE INDEX "import_school_school_id_applied_at_idx" ON "import_school"("school_id", "applied_at");

-- CreateIndex
CREATE INDEX "staged_person_import_id_school_id_idx" ON "staged_person"("import_id", "school_id");

-- CreateIndex
CREATE INDEX "staged_group_import_id_school_id_idx" ON "staged_group"("import_id", "school_id");

-- CreateIndex
CREATE INDEX "staged_membership_import_id_school_id_idx" ON "staged_membership"("import_id", "school_id");

-- CreateIndex
CREATE UNIQUE INDEX "group_school_id_source_system_identifier_key" ON "group"("school_id", "source_system_identifier");

-- AddForeignKey
ALTER TABLE "import_school" ADD CONSTRAINT "import_school_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_school" ADD CONSTRAINT "import_school_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_error" ADD CONSTRAINT "import_error_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group_carry_over" ADD CONSTRAINT "group_carry_over_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what Prisma cannot say.
ALTER TABLE "group" ADD CONSTRAINT "group_source_system_identifier_check" CHECK (
  "source_system_identifier" ~ '\S' AND char_length("source_system_identifier") <= 255);

ALTER TABLE "import"
  ADD CONSTRAINT "import_format_check" CHECK ("format" IN ('PLAIN', 'ONEROSTER', 'SCHULCONNEX')),
  ADD CONSTRAINT "import_mode_check" CHECK ("mode" IN ('BULK', 'DELTA')),
  ADD CONSTRAINT "import_state_check" CHECK ("state" IN ('READING', 'BROKEN', 'READY', 'HELD', 'APPLIED', 'EXPIRED')),
  ADD CONSTRAINT "import_broken_check" CHECK (("state" = 'BROKEN') = ("error_count" > 0));

ALTER TABLE "import_school"
  ADD CONSTRAINT "import_school_state_check" CHECK ("state" IN ('READY', 'HELD', 'APPLIED')),
  ADD CONSTRAINT "import_school_applied_check" CHECK (("state" = 'APPLIED') = ("applied_at" IS NOT NULL));

-- Sort keys are compared as bytes, as those of the directory.
ALTER TABLE "staged_person" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
ALTER TABLE "staged_group" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
