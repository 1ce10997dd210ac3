import { chownSync } from "node:fs";
import { dirname } from "node:path";
import { giveTo, type Cluster } from "./cluster.ts";
import { canEnter, findServerUser, isShared } from "./server-user.ts";

export function findUserFor({ folder, user }: Cluster, say: (line: string) => void): Cluster["user"] {
  if (!isShared(user)) return user;
  const own = findServerUser(say);
  return canEnter(own, dirname(folder)) ? own : user;
}

/** Changes the owner of a stopped cluster, its folder last, so that an interrupted change is repeated. */
export function takeOver(
  { folder, user: before }: Cluster,
  user: Cluster["user"],
  say: (line: string) => void,
): Cluster {
  if (user === null || user.uid === before?.uid) return { folder, user: before };
  giveTo(user, folder);
  chownSync(folder, user.uid, user.gid);
  say(`The files in ${folder} belong to the database's own account now.`);
  return { folder, user };
}
