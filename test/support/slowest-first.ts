import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest; none of them should be the last one running. */
const slowest = [
  ...["faults/webhooks", "access/events-model", "api/sign-on/login", "faults/embedded-postgres", "access/list-plans"],
  ...["security/readers", "cli/typed-pages", "flows/stream", "imports/properties", "platform/command-line"],
  ...["platform/start", "api/webhooks/queues", "access/view-version", "access/model", "api/webhooks/backlog"],
  ...["contract/generated", "faults/stop", "imports/repeated", "faults/purge", "faults/import", "cli/import"],
  ...["cli/school-year", "access/matrix", "flows/school-year", "imports/changes", "imports/identity"],
  ...["docs/pages", "flows/sandbox-year", "api/admin/sandboxes"],
];

/** Runs the slowest files first, the others in the order of vitest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? slowest.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
