package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** As much of JUnit's annotation as generated tests use. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
