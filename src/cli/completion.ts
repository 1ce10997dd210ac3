import type { Command as Parser } from "commander";
import { makeOwnCommand, type Command, type Commands } from "./command.ts";
import { argument } from "./option.ts";
import { findPlace, makeProgram } from "./program.ts";

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
  const program = makeProgram(commands);
  for (const name of Object.keys(commands)) await findPlace(program, commands, [name]);
  const nouns = program.commands;
  const called = nouns.flatMap((noun) =>
    noun.commands.length === 0
      ? [{ path: noun.name(), parser: noun }]
      : noun.commands.map((parser) => ({ path: `${noun.name()} ${parser.name()}`, parser })),
  );
  const values = called.flatMap(({ path, parser }) =>
    parser.options.flatMap(({ long, argChoices }) =>
      argChoices ? [{ path: `${path} ${long}`, words: argChoices }] : [],
    ),
  );
  const options = called.map(({ path, parser }) => ({ path: `${path} *`, words: optionsOf(parser, program) }));
  return [
    "_schultor() {",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...namesOf(program), "help"].join(" ")} --version"`,
    '  elif [ "$COMP_CWORD" -eq 2 ]; then',
    '    case "${COMP_WORDS[1]}" in',
    ...nouns.map((noun) => toCase({ path: noun.name(), words: secondWords(noun) })),
    toCase({ path: "help", words: namesOf(program) }),
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

const namesOf = ({ commands }: Parser): string[] => commands.map((parser) => parser.name());

const optionsOf = (...parsers: readonly Parser[]): string[] =>
  parsers.flatMap(({ options }) => options.map(({ long }) => long!));

const secondWords = (noun: Parser): readonly string[] =>
  noun.commands.length > 0 ? namesOf(noun) : [...(noun.registeredArguments[0]?.argChoices ?? []), ...optionsOf(noun)];

const toCase = ({ path, words }: { path: string; words: readonly string[] }): string =>
  `      ${path.endsWith(" *") ? `"${path.slice(0, -1)}"*` : `"${path}"`}) words="${words.join(" ")}" ;;`;
