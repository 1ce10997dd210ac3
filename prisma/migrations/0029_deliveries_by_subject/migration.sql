-- Written by hand: for data requests. No statement of the queues leaves tests out, so none of them can use this index.
CREATE INDEX "webhook_delivery_of_subject_idx" ON "webhook_delivery" ("subject_id", "id") WHERE NOT "is_test";
