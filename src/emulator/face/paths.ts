/** Path prefix of the pages for browsers. The emulator does not record requests to them, and no fault applies. */
export const H5_PATH = '/h5/'

/** Path of the check page. */
export const H5_CHECK = `${H5_PATH}liveness-face`

/** Path prefix of the callback page of the `rest` API, which receives the result itself. */
export const H5_CALLBACK = `${H5_PATH}callback/`
