-- CreateTable
CREATE TABLE "merged_grant" (
    "merger_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "is_new" BOOLEAN NOT NULL,
    "settings" JSONB NOT NULL,

    CONSTRAINT "merged_grant_pkey" PRIMARY KEY ("merger_id","client_id")
);

-- CreateTable
CREATE TABLE "school_merger" (
    "id" UUID NOT NULL,
    "from_school_id" UUID NOT NULL,
    "into_school_id" UUID NOT NULL,
    "people" INTEGER NOT NULL,
    "groups" INTEGER NOT NULL,
    "apps" INTEGER NOT NULL,
    "merged_at" TIMESTAMPTZ(3) NOT NULL,
    "undo_until" TIMESTAMPTZ(3) NOT NULL,
    "undone_at" TIMESTAMPTZ(3),

    CONSTRAINT "school_merger_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "merged_person" (
    "merger_id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "was_home" BOOLEAN NOT NULL,
    "was_at_both" BOOLEAN NOT NULL,
    "source_system_identifier" TEXT,

    CONSTRAINT "merged_person_pkey" PRIMARY KEY ("merger_id","person_id")
);

-- CreateTable
CREATE TABLE "merged_group" (
    "merger_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "source_system_identifier" TEXT,

    CONSTRAINT "merged_group_pkey" PRIMARY KEY ("merger_id","group_id")
);

-- CreateTable
CREATE TABLE "merged_staff_role" (
    "merger_id" UUID NOT NULL,
    "role_id" UUID NOT NULL,

    CONSTRAINT "merged_staff_role_pkey" PRIMARY KEY ("merger_id","role_id")
);

-- CreateIndex
CREATE INDEX "merged_grant_client_id_idx" ON "merged_grant"("client_id");

-- CreateIndex
CREATE INDEX "school_merger_from_school_id_id_idx" ON "school_merger"("from_school_id", "id");

-- CreateIndex
CREATE INDEX "school_merger_into_school_id_id_idx" ON "school_merger"("into_school_id", "id");

-- CreateIndex
CREATE INDEX "school_merger_undo_until_idx" ON "school_merger"("undo_until");

-- CreateIndex
CREATE INDEX "merged_person_person_id_idx" ON "merged_person"("person_id");

-- CreateIndex
CREATE INDEX "merged_group_group_id_idx" ON "merged_group"("group_id");

-- CreateIndex
CREATE INDEX "merged_staff_role_role_id_idx" ON "merged_staff_role"("role_id");

-- AddForeignKey
ALTER TABLE "merged_grant" ADD CONSTRAINT "merged_grant_merger_id_fkey" FOREIGN KEY ("merger_id") REFERENCES "school_merger"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_grant" ADD CONSTRAINT "merged_grant_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_merger" ADD CONSTRAINT "school_merger_from_school_id_fkey" FOREIGN KEY ("from_school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_merger" ADD CONSTRAINT "school_merger_into_school_id_fkey" FOREIGN KEY ("into_school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_person" ADD CONSTRAINT "merged_person_merger_id_fkey" FOREIGN KEY ("merger_id") REFERENCES "school_merger"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_person" ADD CONSTRAINT "merged_person_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_group" ADD CONSTRAINT "merged_group_merger_id_fkey" FOREIGN KEY ("merger_id") REFERENCES "school_merger"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_group" ADD CONSTRAINT "merged_group_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "group"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_staff_role" ADD CONSTRAINT "merged_staff_role_merger_id_fkey" FOREIGN KEY ("merger_id") REFERENCES "school_merger"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merged_staff_role" ADD CONSTRAINT "merged_staff_role_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "staff_role"("id") ON DELETE CASCADE ON UPDATE CASCADE;
