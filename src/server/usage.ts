import process from 'node:process'
import description from '../../package.json' with { type: 'json' }

export const serverUsage = `usage: start    starts the server
It has no arguments: it reads its settings from the environment. src/settings.md lists them.
  --version     prints the version`

/**
 * For a command without arguments: prints its usage for `--help`, and the version for `--version`, and exits; for any
 * other argument it says so, and exits with status 2.
 */
export const expectNoArguments = (usage: string): void => {
  const args = process.argv.slice(2)
  if (args.length === 0) return
  const answer = args.includes('--help') ? usage : args.includes('--version') ? description.version : undefined
  if (answer !== undefined) console.log(answer)
  else console.error(`unknown argument ${JSON.stringify(args[0])}\n${usage}`)
  process.exit(answer === undefined ? 2 : 0)
}
