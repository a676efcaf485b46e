/** Path prefix of the pages for browsers. The emulator does not record requests to them, and no fault applies. */
export const h5Path = '/h5/'

/** Path of the check page. */
export const h5Check = `${h5Path}liveness-face`

/** Path prefix of the callback page of the `rest` API, which receives the result itself. */
export const h5Callback = `${h5Path}callback/`
