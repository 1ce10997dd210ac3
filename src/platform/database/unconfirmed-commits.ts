import type pg from "pg";

/** The function of PostgreSQL that warns; its text depends on the language of the server. */
const replicationWait = "SyncRepWaitForLSN";

/**
 * Makes a commit an error whose wait for a synchronous replica was cut short. PostgreSQL answers it as done, with a
 * warning, although a failover would lose it.
 */
export function failUnconfirmedCommits(client: pg.ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine !== replicationWait) return;
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter & { stream: { destroy(): void } } };
    const error = Object.assign(new Error("the commit was not confirmed by a replica"), { code: "57P01" });
    connection.emit("error", error);
    connection.stream.destroy();
  });
}
