import { startSubject, type Subject } from "../harness.ts";
import type { World } from "../size/worlds.ts";
import { openEvents, type Events } from "./webhooks.ts";

export type Service = { web: Subject; worker: Subject; events: Events; stop(): Promise<void> };

/** Starts a web process, a worker and a receiver of webhooks. `endpoints`: how many it has. */
export async function startService({ url, db }: World, endpoints?: number): Promise<Service> {
  const subjects: Subject[] = [];
  const start = async (...given: Parameters<typeof startSubject>): Promise<Subject> => {
    const subject = await startSubject(...given);
    subjects.push(subject);
    return subject;
  };
  const stop = async () => {
    for (const subject of subjects.toReversed()) await subject.stop();
  };
  const environment = { DATABASE_URL: url, LOG_LEVEL: "error" };
  try {
    const web = await start("service", "./subjects/service.ts", { ...environment, ROLE: "web" });
    const worker = await start("webhooks", "./subjects/webhooks.ts", environment);
    const events = await openEvents(db, await start("receiver", "./subjects/receiver.ts", {}), endpoints);
    return { web, worker, events, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
