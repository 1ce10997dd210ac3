import pg from "pg";
import { backendOf } from "./session.ts";

export type SilenceLimits = { lookMs: number; silentMs: number; answerMs: number };

const usual: SilenceLimits = { lookMs: 5000, silentMs: 15_000, answerMs: 15_000 };

type Socket = { bytesRead: number; bytesWritten: number; destroy(error: Error): void };
type Watched = pg.ClientBase & { readyForQuery: boolean; connection: { stream: Socket } };

type Options = { url: string; isReplica?: boolean | undefined; silence?: Partial<SilenceLimits> | undefined };

/** Ends connections of a vanished server, which TCP notices late; a second connection asks for the backend. */
export function watchSilence({ url, isReplica = false, silence }: Options): (client: pg.ClientBase) => void {
  const { lookMs, silentMs, answerMs } = { ...usual, ...silence };
  const seen = new Map<Watched, { bytes: number; sinceMs: number }>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  const findSilent = (): Watched[] => {
    const nowMs = performance.now();
    for (const [client, last] of seen) {
      const { bytesRead, bytesWritten } = client.connection.stream;
      if (client.readyForQuery || last.bytes !== bytesRead + bytesWritten)
        seen.set(client, { bytes: bytesRead + bytesWritten, sinceMs: nowMs });
    }
    return [...seen].filter(([, { sinceMs }]) => nowMs - sinceMs >= silentMs).map(([client]) => client);
  };
  const closeSilent = async (): Promise<void> => {
    const silent = findSilent();
    if (silent.length === 0 || isAsking) return;
    isAsking = true;
    const isGone = await askServer({ url, isReplica }, answerMs).finally(() => (isAsking = false));
    for (const client of silent) if (isGone(client)) client.connection.stream.destroy(lost());
  };
  const end = (client: Watched): void => {
    seen.delete(client);
    if (seen.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (newClient) => {
    const client = newClient as Watched;
    seen.set(client, { bytes: 0, sinceMs: performance.now() });
    client.once("end", () => end(client));
    timer ??= setInterval(() => void closeSilent(), lookMs).unref();
  };
}

const lost = () => Object.assign(new Error("the database server is gone"), { code: "ETIMEDOUT" });

type Answer = { serverStartedAt: string; backends: { processId: number; startedAt: string }[] };

const question = `SELECT pg_postmaster_start_time()::text AS "serverStartedAt", (
  SELECT json_agg(json_build_object('processId', pid, 'startedAt', backend_start::text)) FROM pg_stat_activity) AS backends`;

async function askServer({ url, isReplica }: Options, answerMs: number): Promise<(client: Watched) => boolean> {
  const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
  const asking = new pg.Client({ connectionString: url, application_name: "schultor", ...limits });
  asking.on("error", () => undefined);
  try {
    await asking.connect();
    const { rows } = await asking.query<Answer>(`SET TIME ZONE 'UTC'; ${question}`).then(lastResult);
    const { serverStartedAt, backends } = rows[0]!;
    return (client) => {
      const own = backendOf(client);
      if (own === undefined) return true;
      // Behind one address another replica may have answered.
      if (own.serverStartedAt !== serverStartedAt) return !isReplica;
      return !backends.some(({ processId, startedAt }) => processId === own.processId && startedAt === own.startedAt);
    };
  } catch (error) {
    // A server that refuses the connection is alive.
    return () => !(error instanceof pg.DatabaseError);
  } finally {
    (asking as unknown as Watched).connection.stream.destroy(lost());
  }
}

const lastResult = (results: unknown) => (results as pg.QueryResult<Answer>[]).at(-1)!;

/** The PostgreSQL function that sends the warning, whose text depends on the server's language. */
const replicationWait = "SyncRepWaitForLSN";

/** PostgreSQL only warns if no replica confirmed a commit; a failover would lose it, so it becomes an error. */
export function failUnconfirmedCommits(client: pg.ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine !== replicationWait) return;
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter & { stream: { destroy(): void } } };
    const error = Object.assign(new Error("the commit was not confirmed by a replica"), { code: "57P01" });
    connection.emit("error", error);
    connection.stream.destroy();
  });
}
