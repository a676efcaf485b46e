// Imports with `{ type: 'text' }`: Bun, its bundler and Deno give the text of the file.
declare module '../page/*' {
  const text: string
  export default text
}
declare module '../../../node_modules/*' {
  const text: string
  export default text
}
