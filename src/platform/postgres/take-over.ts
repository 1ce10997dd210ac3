import { chownSync } from "node:fs";
import { dirname } from "node:path";
import { giveTo, type Cluster } from "./cluster.ts";
import { canEnter, findServerUser, isShared } from "./server-user.ts";

/**
 * As whom an existing cluster is to run: its owner, or our own account where the owner is one that other programs use.
 */
export function findUserFor({ folder, user }: Cluster, say: (line: string) => void): Cluster["user"] {
  if (!isShared(user)) return user;
  const own = findServerUser(say);
  return canEnter(own, dirname(folder)) ? own : user;
}

/**
 * Gives the files of a stopped cluster to another account. The folder itself comes last, so that a start that was
 * killed here begins again.
 */
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
