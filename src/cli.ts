/** The command `sluice` of the published package: the default server and its administration. */
import process from 'node:process'
import description from '../package.json' with { type: 'json' }

const usage = `usage: sluice start            starts the server, which reads its settings from the environment
       sluice admin COMMAND    manages users, tokens and groups; --help lists the commands
       sluice --version       prints the version`

/**
 * What Bun reads when a process starts, so that this one starts again with it: the number of requests that `fetch` runs
 * at once, else 256; and that of the threads for files, passwords and the names of `fetch`, else one for each
 * processor: two upstreams whose names no server answers for would stop all of these.
 */
const bunSettings = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336', UV_THREADPOOL_SIZE: '16' }

const applyBunSettings = (): void => {
  const { env, argv, execArgv, execPath } = process
  if (!('Bun' in globalThis) || Object.keys(bunSettings).every((name) => env[name] !== undefined)) return
  // The module of a compiled executable (`bun build --compile`) is in it, and no argument.
  const isCompiled = argv[1]?.startsWith('/$bunfs/')
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(isCompiled ? 2 : 1)], { ...bunSettings, ...env })
}

const [command, ...args] = process.argv.slice(2)
if (command === '--version' || (command === 'start' && args.includes('--version'))) {
  console.log(description.version)
} else if (command === '--help' || (command === 'start' && args.includes('--help'))) {
  console.log(usage)
} else if (command === 'start' && args.length === 0) {
  applyBunSettings()
  const { startCommand } = await import('./server.ts')
  await startCommand()
} else if (command === 'admin') {
  // Without the server's modules, which ask Deno for more permissions when they load.
  const { adminCommand } = await import('./admin.ts')
  await adminCommand(args, 'sluice admin')
} else {
  const unknown = command === 'start' ? args[0] : command
  if (unknown !== undefined) console.error(`unknown argument ${JSON.stringify(unknown)}`)
  console.error(usage)
  process.exit(2)
}
