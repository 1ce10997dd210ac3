import { makeOwnCommand, type Command, type Commands, type Noun } from "./command.ts";
import { argument } from "./option.ts";
import { dashed, globalOptions } from "./read-call.ts";

/** The command that prints a completion script. It lists all words, so that pressing the key starts no process. */
export const completion = (all: () => Commands): Command =>
  makeOwnCommand({
    summary: 'Print the completion for a shell: eval "$(schultor completion bash)".',
    args: { shell: argument.oneOf(["bash", "zsh"] as const) },
    run: async (_tools, { args: { shell } }) => {
      const script = await makeScript(all());
      const lines = shell === "zsh" ? ["autoload -Uz bashcompinit && bashcompinit", ...script] : script;
      return { lines, data: { shell, script: lines.join("\n") }, isFile: true };
    },
  });

async function makeScript(commands: Commands): Promise<string[]> {
  const loaded: { name: string; entry: Noun | Command }[] = [];
  for (const [name, entry] of Object.entries(commands))
    loaded.push({ name, entry: "run" in entry ? entry : await entry.load() });
  const second = loaded.map(({ name, entry }) => ({ path: name, words: secondWords(entry) }));
  const called = loaded.flatMap(({ name, entry }) =>
    "verbs" in entry
      ? Object.entries(entry.verbs).map(([verb, command]) => ({ path: `${name} ${verb}`, command }))
      : [{ path: name, command: entry }],
  );
  const global = globalOptions.map(([written]) => written.split(" ")[0]!);
  const options = called.map(({ path, command }) => ({
    path: `${path} *`,
    words: [...Object.keys(command.options).map((name) => `--${dashed(name)}`), ...global],
  }));
  const values = called.flatMap(({ path, command }) =>
    Object.entries(command.options)
      .filter(([, option]) => option.words !== undefined)
      .map(([name, option]) => ({ path: `${path} --${dashed(name)}`, words: option.words! })),
  );
  return [
    "_schultor() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...Object.keys(commands), "help"].join(" ")} --version"`,
    '  elif [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "${COMP_WORDS[1]}" in',
    ...[...second, { path: "help", words: Object.keys(commands) }].map(toCase),
    "    esac",
    "  else",
    '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]} $prev" in',
    '      *" --output"|*" -o") words="table json csv" ;;',
    ...[...values, ...options].map(toCase),
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    "}",
    "complete -o default -F _schultor schultor",
  ];
}

function secondWords(entry: Noun | Command): readonly string[] {
  if ("verbs" in entry) return Object.keys(entry.verbs);
  const [first] = Object.values(entry.args);
  return [...(first?.words ?? []), ...Object.keys(entry.options).map((name) => `--${dashed(name)}`)];
}

const toCase = ({ path, words }: { path: string; words: readonly string[] }): string =>
  `      ${path.endsWith(" *") ? `"${path.slice(0, -1)}"*` : `"${path}"`}) words="${words.join(" ")}" ;;`;
