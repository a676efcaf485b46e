import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, operatingFile } from '../operating/fixture.ts'
import { freePort } from '../support/free-port.ts'

export const pgBouncer = findProgram('pgbouncer')

/** A PgBouncer that runs. */
export interface PgBouncer extends AsyncDisposable {
  /** The `DATABASE_URL` of a database behind it. */
  before(url: string): string
  readonly log: () => string
}

/**
 * Starts PgBouncer with the configuration of `examples/operating` before the server of a database, for all its databases.
 *
 * @param poolSize connections to the server. The gateway has more, so that they have to share
 */
export const startPgBouncer = async (url: string, poolSize: number): Promise<PgBouncer> => {
  const { port: serverPort, username, password } = new URL(url)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'))
  // It does not run as root.
  await chmod(folder, 0o777)
  const port = await freePort()
  const example = readFileSync(operatingFile('pgbouncer.ini'), 'utf8')
  const configuration = example
    .replace(/^sluice = .*$/m, `* = host=127.0.0.1 port=${serverPort}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${port}\nunix_socket_dir =`)
    .replace(/^auth_type = .*$/m, 'auth_type = plain')
    .replace(/^auth_file = .*$/m, `auth_file = ${join(folder, 'users')}`)
    .replace(/^default_pool_size = .*$/m, `default_pool_size = ${poolSize}`)
  await writeFile(join(folder, 'configuration'), configuration)
  await writeFile(join(folder, 'users'), `"${username}" "${password}"\n"limited" "postgres"\n`)
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
  const log = join(folder, 'log')
  const child = Bun.spawn([...asUser, pgBouncer ?? '', join(folder, 'configuration')], {
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', Bun.file(log)],
  })
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer has ended: ${readFileSync(log, 'utf8')}`)
    await Bun.sleep(20)
  }
  return {
    before: (address) => `${address.replace(/@[^/]+/, `@127.0.0.1:${port}`)}?prepare=false`,
    log: () => readFileSync(log, 'utf8'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
