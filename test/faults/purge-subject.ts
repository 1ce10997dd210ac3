// A process to be killed: it deletes for good whose restore window is over at the given time.
import { makePurgeJob } from "../../src/access/index.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { forgetPerson } from "../../src/accounts/index.ts";

const { url, now } = JSON.parse(process.env["SUBJECT"]!) as { url: string; now: string };
const db = openDatabase({ url });
await makePurgeJob({ db, clock: () => new Date(now), forget: forgetPerson }).run(new AbortController().signal);
await db.close();
