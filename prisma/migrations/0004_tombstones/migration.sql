-- CreateTable
CREATE TABLE "tombstone" (
    "person_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tombstone_pkey" PRIMARY KEY ("person_id")
);
