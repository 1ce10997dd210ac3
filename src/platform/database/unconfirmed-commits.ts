import type pg from "pg";

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
