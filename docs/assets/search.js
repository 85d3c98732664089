// The search takes a leading "-" for "without": options are found by their names all the same.
document.addEventListener(
  "keyup",
  (event) => {
    const field = event.target;
    if (field.matches && field.matches("[data-md-component=search-query]")) {
      field.value = field.value.replace(/(^|\s)-+(?=\w)/g, "$1");
    }
  },
  true,
);
