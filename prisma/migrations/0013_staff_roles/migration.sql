-- CreateEnum
CREATE TYPE "staff_role_name" AS ENUM ('OPERATOR', 'DISTRICT', 'SCHOOL_ADMIN', 'SECRETARY', 'CLASS_TEACHER', 'PARTNER', 'SUPPORT');

-- CreateTable
CREATE TABLE "staff_role" (
    "id" UUID NOT NULL,
    "role" "staff_role_name" NOT NULL,
    "person_id" UUID,
    "client_id" TEXT,
    "reason" TEXT,
    "ends_at" TIMESTAMPTZ(3),
    "given_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "staff_role_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "staff_role_school" (
    "role_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,

    CONSTRAINT "staff_role_school_pkey" PRIMARY KEY ("role_id","school_id")
);

-- CreateTable
CREATE TABLE "staff_role_app" (
    "role_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,

    CONSTRAINT "staff_role_app_pkey" PRIMARY KEY ("role_id","client_id")
);

-- CreateIndex
CREATE INDEX "staff_role_person_id_idx" ON "staff_role"("person_id");

-- CreateIndex
CREATE INDEX "staff_role_client_id_idx" ON "staff_role"("client_id");

-- CreateIndex
CREATE INDEX "staff_role_school_school_id_idx" ON "staff_role_school"("school_id");

-- CreateIndex
CREATE INDEX "staff_role_app_client_id_idx" ON "staff_role_app"("client_id");

-- AddForeignKey
ALTER TABLE "staff_role" ADD CONSTRAINT "staff_role_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "staff_role" ADD CONSTRAINT "staff_role_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "staff_role_school" ADD CONSTRAINT "staff_role_school_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "staff_role"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "staff_role_school" ADD CONSTRAINT "staff_role_school_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "staff_role_app" ADD CONSTRAINT "staff_role_app_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "staff_role"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "staff_role_app" ADD CONSTRAINT "staff_role_app_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: one holder; support ends and says why.
ALTER TABLE "staff_role"
  ADD CONSTRAINT "staff_role_holder_check" CHECK (num_nonnulls("person_id", "client_id") = 1),
  ADD CONSTRAINT "staff_role_support_check" CHECK ("role" <> 'SUPPORT' OR num_nulls("reason", "ends_at") = 0);
