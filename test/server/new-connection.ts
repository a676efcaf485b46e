import { connect } from 'node:net'
import { host } from '../node-server/raw-connection.ts'

/** Sends a request over a new connection. `reset`: the connection was established, and ended without a response. */
export const sendOnNewConnection = (port: number): Promise<'answered' | 'reset' | 'refused'> =>
  new Promise((resolve) => {
    let text = ''
    let isConnected = false
    const socket = connect(port, '127.0.0.1', () => {
      isConnected = true
      socket.write(`POST /healthz HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`)
    })
    socket.on('data', (chunk) => {
      text += chunk
      if (text.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text === '' ? (isConnected ? 'reset' : 'refused') : 'answered'))
  })
