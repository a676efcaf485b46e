import process from 'node:process'

export const serverUsage = `usage: start    starts the server
It has no arguments: it reads its settings from the environment. src/settings.md lists them.`

/**
 * For a command without arguments: prints its usage for `--help` and exits; for any other argument it says so, and
 * exits with status 2.
 */
export const expectNoArguments = (usage: string): void => {
  const args = process.argv.slice(2)
  if (args.length === 0) return
  const help = args.includes('--help')
  if (help) console.log(usage)
  else console.error(`unknown argument ${JSON.stringify(args[0])}\n${usage}`)
  process.exit(help ? 0 : 2)
}
