-- CreateTable
CREATE TABLE "password_request" (
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "password_request_pkey" PRIMARY KEY ("person_id","school_id")
);

-- AddForeignKey
ALTER TABLE "password_request" ADD CONSTRAINT "password_request_person_id_school_id_fkey" FOREIGN KEY ("person_id", "school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;
