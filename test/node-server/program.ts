import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { denoBinary } from '../support/server.ts'
import { RawConnection } from './raw-connection.ts'

/** Commands that run a TypeScript file. */
export const runtimes = {
  Bun: () => [process.execPath],
  Deno: () => [denoBinary(), 'run', '-A'],
} as const

/** A test program that listens. */
export interface Program extends AsyncDisposable {
  readonly port: number
  /** Resolves with the exit status. Null: a signal ended it. */
  readonly ended: Promise<number | null>
  /** Sends a signal to the process. */
  kill(signal: NodeJS.Signals): void
  /** Opens a connection and sends `text`. */
  dial(text?: string): RawConnection
}

/** Starts a program of this folder, which prints its port as the last word of its first line. */
export const startProgram = async (
  command: () => readonly string[],
  file: string,
  ...more: readonly string[]
): Promise<Program> => {
  const [executable = '', ...args] = [...command(), new URL(file, import.meta.url).pathname, ...more]
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve) => child.stdout?.once('data', (text) => resolve(String(text))))
  const port = Number(line.trim().split(' ').at(-1))
  const connections: RawConnection[] = []
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return {
    port,
    ended,
    kill: (signal) => void child.kill(signal),
    dial(text = '') {
      const connection = new RawConnection(connect(port, '127.0.0.1'))
      connections.push(connection)
      if (text !== '') connection.write(text)
      return connection
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.socket.destroy()
      child.kill('SIGKILL')
    },
  }
}
